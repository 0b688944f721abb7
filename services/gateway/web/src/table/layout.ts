/** Where things lie, as numbers; the style sheet turns them into places. */

import type { Action, Choice, MeldModel, Place } from "../model";
import type { TileId } from "../tiles/notation";
import type { Turn } from "../tiles/Tile";

export const RIVER_COLUMNS = 6;

/** Row and column of a discard: six to a row, counted from its seat's left hand, rows away from the centre. */
export function riverCell(index: number): { readonly row: number; readonly column: number } {
  return { row: Math.floor(index / RIVER_COLUMNS), column: index % RIVER_COLUMNS };
}

/** How many rows a river has. The style sheet knows for how many there is room, and pushes a longer river together. */
export function riverRows(discards: number): number {
  return Math.ceil(discards / RIVER_COLUMNS);
}

export interface MeldTile {
  readonly tile: TileId | null;
  readonly lying: boolean;
  /** Lies on top of the lying tile before it (an added kong). */
  readonly stacked: boolean;
}

/**
 * The tiles of a meld from left to right. The claimed one lies at the side of the seat it came from: left for the
 * seat before, in the middle for the one opposite, right for the one after; a concealed kong shows two backs.
 */
export function meldTiles(meld: MeldModel, owner: Place): readonly MeldTile[] {
  const standing = (tile: TileId): MeldTile => ({ tile, lying: false, stacked: false });
  if (meld.claimed === null) {
    return meld.tiles.map((tile, index) => ({
      tile: index === 0 || index === meld.tiles.length - 1 ? tile : null,
      lying: false,
      stacked: false,
    }));
  }
  const { tile: claimed, from } = meld.claimed;
  const others = meld.tiles.filter((tile) => tile !== claimed && tile !== meld.added).map(standing);
  const lying: MeldTile[] = [{ tile: claimed, lying: true, stacked: false }];
  if (meld.added !== null) lying.push({ tile: meld.added, lying: true, stacked: true });
  const side = (from - owner + 4) % 4;
  const at = side === 3 ? 0 : side === 2 ? 1 : others.length;
  return [...others.slice(0, at), ...lying, ...others.slice(at)];
}

/** Which way the claimed tile of a meld turns: its head points to the seat it came from. */
export function claimedTurn(from: Place, owner: Place): Turn {
  const side = (from - owner + 4) % 4;
  return side === 1 ? 3 : 1;
}

const COLUMNS: Record<Exclude<Action["type"], "discard">, number> = { pass: 1, chow: 2, pung: 3, kong: 3, win: 4 };

/** The place of the Original Call: that of a chow, which is never offered at the same time. */
export const CALL_COLUMN = COLUMNS.chow;

export interface Slot {
  readonly choice: Choice;
  /** 1 to 4, from the left. */
  readonly column: number;
  /** 0 at the bottom, growing upwards. */
  readonly level: number;
}

/**
 * Every choice in its fixed place: pass, chow, pung and kong, win from left to right, several of one column above each other.
 * A pung lies below a kong, so that neither moves when the other is missing at another time.
 */
export function slots(choices: readonly Choice[]): readonly Slot[] {
  const order: readonly Action["type"][] = ["pass", "chow", "pung", "kong", "win"];
  const sorted = [...choices].sort((a, b) => order.indexOf(a.action.type) - order.indexOf(b.action.type));
  const filled = new Map<number, number>();
  return sorted.map((choice) => {
    const column = COLUMNS[choice.action.type];
    const level = filled.get(column) ?? 0;
    filled.set(column, level + 1);
    return { choice, column, level };
  });
}

/** The one choice that is filled: a win, else the strongest claim; a kong of one's own is a matter of taste. */
export function bestChoice(choices: readonly Choice[]): string | null {
  const isClaim = choices.some(({ action }) => action.type === "pass" && !action.opening);
  const order: readonly Action["type"][] = isClaim ? ["win", "kong", "pung", "chow"] : ["win"];
  for (const type of order) {
    const found = choices.find(({ action }) => action.type === type);
    if (found) return found.id;
  }
  return null;
}
