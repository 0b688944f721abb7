import type { Discard, Place } from "../model";
import { kindOf, shortName, type TileId } from "../tiles/notation";
import { Tile } from "../tiles/Tile";
import { riverCell, riverRows } from "./layout";

interface RiverProps {
  place: Place;
  name: string;
  discards: readonly Discard[];
  /** Index of the ringed discard, -1 for none. */
  last: number;
  claimable: boolean;
}

/** A seat's discards in the order they were thrown, turned to that seat; what was claimed leaves a gap. */
export function River({ place, name, discards, last, claimable }: RiverProps) {
  const words = discards.map(({ tile, claimed, called }) => spoken(tile, claimed, called)).join("; ");
  return (
    <div
      class={`river at-${place}`}
      style={`--rows:${riverRows(discards.length)}`}
      role="img"
      aria-label={`River of ${name}: ${words || "empty"}`}
    >
      {discards.map(({ tile, claimed, called }, index) => {
        const { row, column } = riverCell(index);
        const ring = index === last ? ` last${claimable ? " claimable" : ""}` : "";
        return (
          <span
            key={tile}
            class={`cell${claimed ? " gap" : ""}${called ? " called" : ""}${ring}`}
            style={`--row:${row};--column:${column}`}
          >
            {!claimed && <Tile tile={tile} turn={place} moving />}
          </span>
        );
      })}
    </div>
  );
}

function spoken(tile: TileId, claimed: boolean, called = false): string {
  return shortName(kindOf(tile)) + (called ? ", Original Call" : "") + (claimed ? ", claimed" : "");
}
