import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type KeyMeaning, SETTLING_MS } from "../keys";
import type { HandSwitch, TableModel } from "../model";
import { Once } from "../once";
import type { TileId } from "../tiles/notation";
import { Actions } from "./Actions";
import { Announcer } from "./Announcer";
import { Board } from "./Board";
import { Gathering } from "./Gathering";
import { HiddenHand, OwnHand } from "./OwnHand";
import { Settlement } from "./Settlement";
import { SidePanel } from "./SidePanel";
import { TableHeader } from "./TableHeader";
import { readyAsked, useTableKeys } from "./useTableKeys";

export interface TableHandlers {
  onChoose: (promptId: string, choiceId: string) => void;
  onDiscard: (promptId: string, tile: TileId, call: boolean) => void;
  onReady: () => void;
  /** Fills the free seats with computers. */
  onFill: () => void;
  onSwitch: (name: HandSwitch, on: boolean) => void;
  onLeave: () => void;
  onSound: (on: boolean) => void;
}

interface TableProps extends TableHandlers {
  model: TableModel;
  sound: boolean;
  /** Look settings for the side panel. */
  look: ComponentChildren;
}

/** A table seen from one's seat. It decides nothing: what may be done is in the prompt, what is done goes out once. */
export function Table({ model, sound, look, ...on }: TableProps) {
  const [selected, setSelected] = useState<TileId | null>(null);
  const [panelOpen, setPanelOpen] = useState(false);
  const [callingFor, setCallingFor] = useState("");
  const [settlementClosed, setSettlementClosed] = useState("");
  const once = useRef(new Once());
  const readyOnce = useRef(new Once());

  const { prompt, settlement, gathering, seats } = model;
  const own = seats[0];
  const holding = typeof own.holding === "number" ? [] : own.holding;
  const drawn = typeof own.drawn === "number" ? own.drawn : null;
  const tiles = drawn === null ? holding : [...holding, drawn];

  const mayCall = prompt !== null && prompt.calls.length > 0;
  const calling = mayCall && callingFor === prompt.id;
  const open = prompt && !prompt.answered ? prompt : null;
  const discards = open ? (calling ? open.calls : open.discards) : [];

  const now = performance.now();
  once.current.follow(prompt?.id ?? null, prompt?.answered ?? false, now);
  const asked = readyAsked(model);
  readyOnce.current.follow(asked?.id ?? null, asked?.ready ?? false, now);

  useEffect(() => {
    if (selected !== null && !tiles.includes(selected)) setSelected(null);
  });

  const choose = (choiceId: string) => {
    if (prompt?.choices.some(({ id }) => id === choiceId) && once.current.take()) on.onChoose(prompt.id, choiceId);
  };
  const discard = (tile: TileId) => {
    if (!prompt || !discards.includes(tile) || !once.current.take()) return;
    setSelected(null);
    on.onDiscard(prompt.id, tile, calling);
  };
  const ready = () => {
    if (readyOnce.current.take()) on.onReady();
  };

  const onKey = (meaning: KeyMeaning) => {
    const at = performance.now();
    switch (meaning.type) {
      case "choose":
        return choose(meaning.id);
      case "ready":
        return readyOnce.current.openFor(at) >= SETTLING_MS ? ready() : undefined;
      case "call":
        // Two quick presses may come before the page is drawn anew.
        return prompt ? setCallingFor((was) => (was === prompt.id ? "" : prompt.id)) : undefined;
      case "discard":
        if (selected !== null && once.current.openFor(at) >= SETTLING_MS) discard(selected);
        return;
      case "pick":
        return setSelected(tiles[meaning.index] ?? selected);
      case "move": {
        const from = selected === null ? (meaning.step > 0 ? -1 : tiles.length) : tiles.indexOf(selected);
        return setSelected(tiles[(from + meaning.step + tiles.length) % tiles.length] ?? null);
      }
    }
  };
  useTableKeys(model, onKey);

  const settled = settlement !== null && settlement.id !== settlementClosed ? settlement : null;
  return (
    <div class={`table${panelOpen ? " panel-open" : ""}`}>
      <TableHeader
        model={model}
        sound={sound}
        onSound={on.onSound}
        onLeave={on.onLeave}
        panelOpen={panelOpen}
        onPanel={() => setPanelOpen(!panelOpen)}
      />
      <main class="board">
        <Board model={model}>
          <Actions
            choices={prompt?.choices ?? []}
            answered={prompt?.answered ?? false}
            onChoose={choose}
            calling={mayCall ? calling : null}
            onCalling={(wanted) => setCallingFor(wanted && prompt ? prompt.id : "")}
          />
          {typeof own.holding === "number" ? (
            <HiddenHand count={own.holding} drawn={own.drawn !== null} />
          ) : (
            <OwnHand
              tiles={holding}
              drawn={drawn}
              discards={discards}
              calling={calling}
              frozen={own.called ?? false}
              selected={selected}
              onSelect={setSelected}
              onDiscard={discard}
            />
          )}
        </Board>
        {gathering && !settled && (
          <Gathering gathering={gathering} serverOffsetMs={model.serverOffsetMs} onReady={ready} onFill={on.onFill} />
        )}
        {settled && (
          <Settlement
            settlement={settled}
            match={model.match}
            serverOffsetMs={model.serverOffsetMs}
            onReady={ready}
            onLeave={on.onLeave}
            // Nobody is asked while a seat is free: the way to the next hand is to wait for a player.
            {...(asked === null && !settled.over
              ? { closing: { label: "Go on", act: () => setSettlementClosed(settled.id) } }
              : {})}
          />
        )}
      </main>
      <aside class="panel" id="table-panel" aria-label="Hand and log">
        <SidePanel model={model} onSwitch={on.onSwitch}>
          {look}
        </SidePanel>
      </aside>
      <Announcer model={model} />
    </div>
  );
}
