/** What happens, in words. */

import { WinMethod } from "../gen/eastwind/scoring/v1/score_pb";
import { DrawnHandCause, type TableEvent } from "../gen/eastwind/table/v1/event_pb";
import type { TableView } from "../gen/eastwind/table/v1/view_pb";
import type { Meld } from "../gen/eastwind/type/v1/tile_pb";
import type { LogLine } from "../model";
import { kindOf, shortName } from "../tiles/notation";
import { discardWords, meldWords, possessive, verb } from "../words";
import { meldKind } from "./melds";
import { nameOf } from "./seats";

/** The line for an event, seen from the view before it; null for what needs no words. */
export function logLine(view: TableView, { event }: TableEvent, id: string): LogLine | null {
  const line = (seat: number, say: (who: string) => string): LogLine => {
    const who = nameOf(view, seat);
    return { id, who, what: say(who) };
  };
  switch (event.case) {
    case "seatTaken":
      return { id, who: event.value.player?.name ?? "", what: "takes a seat" };
    case "seatReleased":
      return line(event.value.seat, (who) => verb(who, "leave"));
    case "seatLeaving":
      return line(event.value.seat, (who) => `${verb(who, "leave")} after this hand`);
    case "seatReturned":
      return line(event.value.seat, (who) => (who === "You" ? "are back" : "is back"));
    case "handStarted":
      return line(event.value.dealer, (who) => `${verb(who, "deal")} hand ${event.value.hand}`);
    case "bonusExposed":
      return line(event.value.seat, () => `${shortName(kindOf(event.value.tile))}, replaced`);
    case "tileDiscarded":
      return line(event.value.seat, (who) => discardWords(who, event.value.tile, event.value.originalCall));
    case "meldClaimed":
      return line(event.value.seat, () => words(event.value.meld));
    case "kongDeclared":
      return line(event.value.seat, () => words(event.value.meld));
    case "seatTimedOut":
      return line(event.value.seat, (who) => `${verb(who, "run")} out of time`);
    case "handWon":
      return line(event.value.seat, (who) => winWords(who, event.value.method, sourceName(view, event.value.source)));
    case "handDrawn":
      return { id, who: "", what: drawnSentence(event.value.cause) };
    case "tableClosed":
      return { id, who: "", what: "The table is closed." };
    default:
      return null;
  }
}

function words(meld: Meld | undefined): string {
  return meld ? meldWords({ kind: meldKind(meld), tiles: meld.tiles }) : "kong";
}

function sourceName(view: TableView, source: number | undefined): string {
  return source === undefined ? "" : nameOf(view, source);
}

/** "win on Tomas's discard", "wins by self-draw", "wins by robbing your kong" */
export function winWords(who: string, method: WinMethod, source: string): string {
  const wins = verb(who, "win");
  switch (method) {
    case WinMethod.DISCARD:
      return `${wins} on ${possessive(source)} discard`;
    case WinMethod.ROBBED_KONG:
    case WinMethod.ROBBED_CONCEALED_KONG:
      return `${wins} by robbing ${possessive(source)} kong`;
    default:
      return `${wins} by self-draw`;
  }
}

export function drawnSentence(cause: DrawnHandCause): string {
  return cause === DrawnHandCause.REPLACEMENT_EXHAUSTED
    ? "Drawn hand: no tile is left to replace"
    : "Drawn hand: the wall is empty";
}
