import type { SeatView, TableView } from "../gen/eastwind/table/v1/view_pb";
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

/** "You", or the name of who sits there. */
export function nameOf(view: TableView, seat: number): string {
  if (seat === view.viewer) return "You";
  return view.seats[seat]?.player?.name || "Empty seat";
}

export function isComputer(seat: SeatView): boolean {
  return seat.player !== undefined && seat.player.botLevel !== BotLevel.UNSPECIFIED;
}
