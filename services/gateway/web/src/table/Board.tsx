import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { TableModel } from "../model";
import { TileMotion } from "../motion";
import { Centre } from "./Centre";
import { Melds } from "./Melds";
import { OtherHand } from "./OtherHand";
import { BonusTiles, Plate } from "./Plate";
import { River } from "./River";

interface BoardProps {
  model: TableModel;
  /** The own tiles, the actions, and what else lies on the felt. */
  children: ComponentChildren;
}

/** The felt with everything that all can see; tiles travel when they change places. */
export function Board({ model, children }: BoardProps) {
  const felt = useRef<HTMLDivElement>(null);
  const motion = useRef(new TileMotion());
  const handShown = useRef("");
  const { prompt, seats, lastDiscard } = model;
  const own = seats[0];
  const live = model.connection === "live";
  const claimable = prompt !== null && !prompt.answered && prompt.discards.length === 0 && prompt.choices.length > 0;

  useLayoutEffect(() => {
    if (!felt.current) return;
    const hand = `${model.id}/${model.prevailing}/${model.hand}`;
    motion.current.settle(felt.current, hand === handShown.current);
    handShown.current = hand;
  });

  return (
    <div class="felt" ref={felt}>
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
          fromZero={model.match === null}
        />
      ))}
      {model.notice && (
        <p class="notice" role="alert">
          {model.notice}
        </p>
      )}
      {children}
      <div class="own-side">
        {own.bonus.length > 0 && <BonusTiles tiles={own.bonus} />}
        <div class="melds at-0">
          <Melds melds={own.melds} owner={0} />
        </div>
      </div>
    </div>
  );
}
