/** The score sheet of a match: every finished hand with its changes, from the first to the last. */

import type { TableView } from "../gen/eastwind/table/v1/view_pb";
import type { MatchModel, Place, SheetLine, Wind } from "../model";
import { PLACES } from "../model";
import { factsOf } from "./rulesets";
import { bottomSeat, nameOf, placeOf, seatAt } from "./seats";

const SEATS = 4;

/** A finished hand, by seat. */
export interface PlayedHand {
  readonly hand: number;
  readonly winner: number | null;
  readonly changes: readonly number[];
}

/** The sheet with one more hand; a hand that it has already stays as it is. */
export function withHand(sheet: readonly PlayedHand[], played: PlayedHand): readonly PlayedHand[] {
  if (sheet.some(({ hand }) => hand === played.hand)) return sheet;
  return [...sheet, played].sort((a, b) => a.hand - b.hand);
}

/** The sheet with the hand whose settlement a view shows. */
export function withSettled(sheet: readonly PlayedHand[], { hand, settled }: TableView): readonly PlayedHand[] {
  if (!settled) return sheet;
  return withHand(sheet, { hand, winner: settled.winner ?? null, changes: settled.changes });
}

/** How many hands of the match are over; 0 where hands stand for themselves. */
export function finishedHands(view: TableView): number {
  if (factsOf(view.settings?.ruleset).matchChanges === null) return 0;
  return view.settled ? view.hand : Math.max(0, view.hand - 1);
}

/** The match so far, as the reader sits; null where every hand stands for itself. */
export function matchModel(view: TableView, sheet: readonly PlayedHand[]): MatchModel | null {
  const { matchChanges } = factsOf(view.settings?.ruleset);
  if (matchChanges === null) return null;
  return {
    changesOfDealer: view.dealerChanges,
    lastChange: matchChanges,
    startingPoints: view.startingPoints,
    names: PLACES.map((place) => nameOf(view, seatAt(view, place).seat)),
    totals: PLACES.map((place) => seatAt(view, place).points),
    lines: linesOf(view, sheet),
    missing: sheet.length < finishedHands(view),
  };
}

/** Dealer and round follow from who won before, as long as no hand is missing (classical §2.1). */
function linesOf(view: TableView, sheet: readonly PlayedHand[]): readonly SheetLine[] {
  const firstDealer = (((view.dealer - view.dealerChanges) % SEATS) + SEATS) % SEATS;
  const lines: SheetLine[] = [];
  let changed = 0;
  for (const { hand, winner, changes } of sheet) {
    if (hand !== lines.length + 1) break;
    const dealer = (firstDealer + changed) % SEATS;
    const bottom = bottomSeat(view);
    lines.push({
      hand,
      prevailing: (Math.floor(changed / SEATS) % SEATS) as Wind,
      dealer: placeOf(view, dealer),
      winner: winner === null ? null : placeOf(view, winner),
      changes: PLACES.map((place: Place) => changes[(place + bottom) % SEATS] ?? 0),
    });
    if (winner !== null && winner !== dealer) changed += 1;
  }
  return lines;
}
