import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type KeyMeaning, SETTLING_MS } from "../keys";
import type { Action, HandSwitch, TableModel } from "../model";
import { TileMotion } from "../motion";
import { Once } from "../once";
import type { TileId } from "../tiles/notation";
import { Actions } from "./Actions";
import { Announcer } from "./Announcer";
import { Centre } from "./Centre";
import { Gathering } from "./Gathering";
import { Melds } from "./Melds";
import { OtherHand } from "./OtherHand";
import { OwnHand } from "./OwnHand";
import { BonusTiles, Plate } from "./Plate";
import { River } from "./River";
import { Settlement } from "./Settlement";
import { SidePanel } from "./SidePanel";
import { TableHeader } from "./TableHeader";
import { readyAsked, useTableKeys } from "./useTableKeys";

export interface TableHandlers {
  onAct: (promptId: string, action: Action) => void;
  onReady: () => void;
  /** Fills the free seats with computers. */
  onFill: () => void;
  onSwitch: (name: HandSwitch, on: boolean) => void;
  onLeave: () => void;
}

interface TableProps extends TableHandlers {
  model: TableModel;
  sound: boolean;
  onSound: (on: boolean) => void;
  /** Look settings for the side panel. */
  look: ComponentChildren;
}

/** A table seen from one's seat. It decides nothing: what may be done is in the prompt, what is done goes to `onAct`. */
export function Table({ model, onAct, onReady, onFill, onSwitch, onLeave, sound, onSound, look }: TableProps) {
  const [selected, setSelected] = useState<TileId | null>(null);
  const [panelOpen, setPanelOpen] = useState(false);
  const board = useRef<HTMLDivElement>(null);
  const motion = useRef(new TileMotion());
  const once = useRef(new Once());
  const readyOnce = useRef(new Once());
  const handShown = useRef("");

  const { prompt, settlement, gathering, seats, lastDiscard } = model;
  const own = seats[0];
  const holding = typeof own.holding === "number" ? [] : own.holding;
  const drawn = typeof own.drawn === "number" ? own.drawn : null;
  const tiles = drawn === null ? holding : [...holding, drawn];
  const live = model.connection === "live";

  const now = performance.now();
  once.current.follow(prompt?.id ?? null, prompt?.answered ?? false, now);
  const asked = readyAsked(model);
  readyOnce.current.follow(asked?.id ?? null, asked?.ready ?? false, now);

  useLayoutEffect(() => {
    if (!board.current) return;
    const hand = `${model.id}/${model.prevailing}/${model.hand}`;
    motion.current.settle(board.current, lastDiscard?.place ?? null, hand === handShown.current);
    handShown.current = hand;
  });
  useEffect(() => {
    if (selected !== null && !tiles.includes(selected)) setSelected(null);
  });

  const act = (action: Action) => {
    if (prompt && once.current.take()) onAct(prompt.id, action);
  };
  const choose = (id: string) => {
    const choice = prompt?.choices.find((each) => each.id === id);
    if (choice) act(choice.action);
  };
  const discard = (tile: TileId) => {
    if (!prompt?.discards.includes(tile)) return;
    setSelected(null);
    act({ type: "discard", tile });
  };
  const ready = () => {
    if (readyOnce.current.take()) onReady();
  };

  const onKey = (meaning: KeyMeaning) => {
    const at = performance.now();
    switch (meaning.type) {
      case "choose":
        return choose(meaning.id);
      case "ready":
        return readyOnce.current.openFor(at) >= SETTLING_MS ? ready() : undefined;
      case "discard":
        if (selected !== null && once.current.openFor(at) >= SETTLING_MS) discard(selected);
        return;
      case "pick":
        return setSelected(tiles[meaning.index] ?? selected);
      case "move": {
        const at = selected === null ? (meaning.step > 0 ? -1 : tiles.length) : tiles.indexOf(selected);
        return setSelected(tiles[(at + meaning.step + tiles.length) % tiles.length] ?? null);
      }
    }
  };
  useTableKeys(model, onKey);

  const claimable = prompt !== null && prompt.discards.length === 0 && prompt.choices.length > 0;
  return (
    <div class={`table${panelOpen ? " panel-open" : ""}`}>
      <TableHeader
        model={model}
        sound={sound}
        onSound={onSound}
        onLeave={onLeave}
        panelOpen={panelOpen}
        onPanel={() => setPanelOpen(!panelOpen)}
      />
      <main class="board">
        <div class="felt" ref={board}>
          <Centre model={model} />
          {seats.map((seat) => (
            <River
              key={seat.place}
              place={seat.place}
              name={seat.name}
              discards={seat.river}
              last={lastDiscard?.place === seat.place ? lastDiscard.index : -1}
              claimable={claimable}
            />
          ))}
          <OtherHand seat={seats[1]} place={1} />
          <OtherHand seat={seats[2]} place={2} />
          <OtherHand seat={seats[3]} place={3} />
          {seats.map((seat) => (
            <Plate
              key={seat.place}
              seat={seat}
              own={seat.place === 0}
              serverOffsetMs={model.serverOffsetMs}
              live={live}
            />
          ))}
          {model.notice && (
            <p class="notice" role="alert">
              {model.notice}
            </p>
          )}
          <Actions choices={prompt?.choices ?? []} answered={prompt?.answered ?? false} onChoose={choose} />
          <OwnHand
            tiles={holding}
            drawn={drawn}
            discards={prompt && !prompt.answered ? prompt.discards : []}
            selected={selected}
            onSelect={setSelected}
            onDiscard={discard}
          />
          <div class="own-side">
            {own.bonus.length > 0 && <BonusTiles tiles={own.bonus} />}
            <div class="melds at-0">
              <Melds melds={own.melds} owner={0} />
            </div>
          </div>
        </div>
        {gathering && !settlement && (
          <Gathering gathering={gathering} serverOffsetMs={model.serverOffsetMs} onReady={ready} onFill={onFill} />
        )}
        {settlement && (
          <Settlement settlement={settlement} serverOffsetMs={model.serverOffsetMs} onReady={ready} onLeave={onLeave} />
        )}
      </main>
      <aside class="panel" id="table-panel" aria-label="Hand and log">
        <SidePanel model={model} onSwitch={onSwitch}>
          {look}
        </SidePanel>
      </aside>
      <Announcer model={model} />
    </div>
  );
}
