import type { Place, SeatModel } from "../model";
import { Tile } from "../tiles/Tile";
import { Melds } from "./Melds";

/** The tiles of another seat, standing, with its melds at its right hand. */
export function OtherHand({ seat, place }: { seat: SeatModel; place: Exclude<Place, 0> }) {
  const shown = typeof seat.holding === "number" ? null : seat.holding;
  const count = typeof seat.holding === "number" ? seat.holding : seat.holding.length;
  const drawn = seat.drawn === null ? null : seat.drawn === "hidden" ? { tile: null } : { tile: seat.drawn };
  const words = `${seat.name} holds ${count + (drawn ? 1 : 0)} tiles`;
  return (
    <>
      <div class={`standing at-${place}${shown ? " shown" : ""}`} data-hand={place} role="img" aria-label={words}>
        {Array.from({ length: count }, (_, index) => {
          const tile = shown?.[index] ?? null;
          // Hidden tiles are all alike: only their number counts.
          return <Tile key={tile ?? `hidden-${index}`} tile={tile} turn={place} />;
        })}
        {drawn && <Tile key="drawn" tile={drawn.tile} turn={place} class="drawn" />}
      </div>
      <div class={`melds at-${place}`}>
        <Melds melds={seat.melds} owner={place} />
      </div>
    </>
  );
}
