import { type SeatView, TablePhase, type TableView } from "../gen/eastwind/table/v1/view_pb";
import { BotLevel } from "../gen/eastwind/type/v1/settings_pb";
import type { Place, Wind } from "../model";

const SEATS = 4;

/** The seat from which the table is drawn: one's own, or the first for a spectator. */
export function bottomSeat(view: TableView): number {
  return view.viewer ?? 0;
}

export function placeOf(view: TableView, seat: number): Place {
  return ((seat - bottomSeat(view) + SEATS) % SEATS) as Place;
}

export function seatAt(view: TableView, place: Place): SeatView {
  const seat = view.seats[(place + bottomSeat(view)) % SEATS];
  if (!seat) throw new RangeError("a table has four seats");
  return seat;
}

export function windOf(seat: number, dealer: number): Wind {
  return ((seat - dealer + SEATS) % SEATS) as Wind;
}

/** Whether the view shows a hand, running or finished, and not only the one to come. */
function showsHand(view: TableView): boolean {
  return view.phase === TablePhase.PLAYING || view.settled !== undefined || view.hand > 1;
}

/** The dealer of the hand that is shown: between two hands that of the finished one. */
export function shownDealer(view: TableView): number {
  return showsHand(view) ? view.handDealer : view.dealer;
}

/** The prevailing wind of the hand that is shown. */
export function shownPrevailing(view: TableView): Wind {
  return (showsHand(view) ? view.handPrevailingWind : view.prevailingWind) as Wind;
}

/** "You", or the name of who sits there. */
export function nameOf(view: TableView, seat: number): string {
  if (seat === view.viewer) return "You";
  return view.seats[seat]?.player?.name || "Empty seat";
}

export function isComputer(seat: SeatView): boolean {
  return seat.player !== undefined && seat.player.botLevel !== BotLevel.UNSPECIFIED;
}
