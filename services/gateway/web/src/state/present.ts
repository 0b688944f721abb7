/** From what is known to what is shown. */

import { DecisionKind } from "../gen/eastwind/table/v1/event_pb";
import type { DecisionView, SeatView, TableView } from "../gen/eastwind/table/v1/view_pb";
import { TablePhase } from "../gen/eastwind/table/v1/view_pb";
import { Speed } from "../gen/eastwind/type/v1/settings_pb";
import { SPEEDS, type SpeedName } from "../lobby/model";
import type {
  ClockModel,
  Connection,
  GatheringModel,
  Place,
  SeatModel,
  Switches,
  TableModel,
  WaitModel,
  WorthModel,
} from "../model";
import { PLACES } from "../model";
import { kindOf, shortName } from "../tiles/notation";
import { meldModel } from "./melds";
import { promptOf } from "./prompt";
import { factsOf } from "./rulesets";
import { bottomSeat, isComputer, nameOf, placeOf, seatAt, shownDealer, shownPrevailing, windOf } from "./seats";
import { closedWords, settlementModel } from "./settlement";
import { matchModel } from "./sheet";
import { shownView, type TableState } from "./table";

export const SPEED_NAMES: Record<Speed, SpeedName> = {
  [Speed.UNSPECIFIED]: "standard",
  [Speed.BULLET]: "bullet",
  [Speed.BLITZ]: "blitz",
  [Speed.STANDARD]: "standard",
  [Speed.RELAXED]: "relaxed",
  [Speed.UNTIMED]: "untimed",
};

/** What is shown beside the table itself. */
export interface Surroundings {
  readonly connection: Connection;
  readonly latencyMs: number | null;
  readonly serverOffsetMs: number;
  readonly rulesets: ReadonlyMap<string, string>;
  readonly switches: Switches;
  readonly worth: WorthModel | null;
  readonly waits: readonly WaitModel[];
  readonly code: string;
}

export function tableModel(state: TableState, around: Surroundings): TableModel {
  const view = shownView(state);
  const seats = PLACES.map((place) => seatModel(state, view, place, around));
  const lastSeat = view.lastDiscardSeat;
  const river = lastSeat === undefined ? [] : (view.seats[lastSeat]?.river ?? []);
  return {
    id: view.tableId,
    title: titleOf(view, around.rulesets),
    connection: around.connection,
    latencyMs: around.latencyMs,
    serverOffsetMs: around.serverOffsetMs,
    prevailing: shownPrevailing(view),
    hand: view.hand,
    wallCount: view.wallCount,
    kongBoxCount: factsOf(view.settings?.ruleset).kongBox > 0 ? view.kongBoxCount : null,
    watching: view.viewer === undefined,
    match: matchModel(view, state.sheet),
    seats: seats as unknown as TableModel["seats"],
    lastDiscard: lastSeat === undefined ? null : { place: placeOf(view, lastSeat), index: river.length - 1 },
    prompt: view.phase === TablePhase.PLAYING ? promptOf(state) : null,
    worth: around.worth,
    waits: around.waits,
    log: state.log,
    switches: around.switches,
    settlement: settlementModel(state),
    gathering: gatheringModel(state, around.code),
    notice: state.notice || robbingWords(view) || openingWords(view) || closingWords(view),
  };
}

function titleOf(view: TableView, rulesets: ReadonlyMap<string, string>): readonly string[] {
  const { settings } = view;
  if (!settings) return [];
  const allHuman = view.seats.every((seat) => seat.player && !isComputer(seat));
  const rated = view.phase === TablePhase.PLAYING ? view.unitRated : settings.rated && allHuman;
  const { label, clock } = SPEEDS[SPEED_NAMES[settings.speed] ?? "standard"];
  const speed = settings.speed === Speed.UNTIMED ? label : `${label} ${clock}`;
  return [rulesets.get(settings.ruleset) ?? settings.ruleset, rated ? "rated" : "casual", speed];
}

function clockOf(decision: DecisionView): ClockModel | null {
  if (decision.openedMs === undefined || decision.deadlineMs === undefined) return null;
  const baseEndsAt = Number(decision.openedMs) + decision.baseMs;
  return {
    baseMs: decision.baseMs,
    baseEndsAt,
    reserveMs: Math.max(0, Number(decision.deadlineMs) - baseEndsAt),
  };
}

function presenceOf(seat: SeatView): SeatModel["presence"] {
  if (!seat.player) return "empty";
  if (isComputer(seat)) return "computer";
  return seat.connected ? "present" : "away";
}

function seatModel(state: TableState, view: TableView, place: Place, around: Surroundings): SeatModel {
  const seat = seatAt(view, place);
  const { decision } = view;
  const deciding = view.phase === TablePhase.PLAYING && decision?.seat === seat.seat && !state.pending;
  const own = seat.seat === view.viewer;
  const drawn = seat.drawn ?? null;
  // Of another seat only the number tells that it has drawn: one tile more than a waiting hand.
  const hiddenDrawn = seat.tiles.length === 0 && seat.tileCount % 3 === 2;
  return {
    place,
    wind: windOf(seat.seat, shownDealer(view)),
    name: nameOf(view, seat.seat),
    presence: own ? "present" : presenceOf(seat),
    deciding,
    rating: (seat.player && state.ratings.get(seat.player.accountId)) ?? null,
    points: seat.points,
    clock: deciding && decision ? clockOf(decision) : null,
    holding: holdingOf(state, seat, own && !around.switches.sort, hiddenDrawn),
    drawn: drawn ?? (hiddenDrawn ? "hidden" : null),
    river: seat.river.map(({ tile, claimedBy, originalCall }) => ({
      tile,
      claimed: claimedBy !== undefined,
      called: originalCall,
    })),
    melds: seat.melds.map((meld) => meldModel(view, meld)),
    bonus: seat.bonus,
    called: seat.originalCall,
  };
}

function holdingOf(state: TableState, seat: SeatView, asTheyCame: boolean, hiddenDrawn: boolean): SeatModel["holding"] {
  if (seat.tiles.length === 0) return seat.tileCount - (hiddenDrawn ? 1 : 0);
  const tiles = seat.tiles.filter((tile) => tile !== seat.drawn);
  if (!asTheyCame) return tiles;
  const place = new Map(state.arrival.map((tile, index) => [tile, index]));
  return tiles.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
}

function gatheringModel({ view, readySent }: TableState, code: string): GatheringModel | null {
  const waiting = view.phase === TablePhase.WAITING;
  const ready = view.phase === TablePhase.READY;
  if (!waiting && !ready) return null;
  const own = view.viewer === undefined ? undefined : view.seats[view.viewer];
  return {
    id: `${view.tableId}/${view.hand}/${ready ? "ready" : "waiting"}`,
    seats: PLACES.map((place) => {
      const seat = seatAt(view, place);
      return { place, name: seat.player ? nameOf(view, seat.seat) : "", ready: seat.ready };
    }),
    code,
    ready: ready && own ? own.ready || readySent !== null : null,
    readyBy: view.readyDeadlineMs === undefined ? null : Number(view.readyDeadlineMs),
    mayFill: own !== undefined && view.settings?.rated !== true,
  };
}

/** Where no settlement says it: the table closed before a hand was played. */
function closingWords(view: TableView): string {
  return view.phase === TablePhase.CLOSED && !view.settled
    ? `${closedWords(view.closeReason)} Leave it for another.`
    : "";
}

/** Who is asked in the opening round is told nobody else (classical §2.3). */
function openingWords({ decision }: TableView): string {
  return decision?.kind === DecisionKind.OPENING_KONG ? "Before the first discard: kong, or continue?" : "";
}

function robbingWords(view: TableView): string {
  const { decision, pendingKong } = view;
  if (decision?.kind !== DecisionKind.ROB || !pendingKong?.meld || bottomSeat(view) === pendingKong.seat) return "";
  const tile = pendingKong.meld.tiles[0];
  return tile === undefined ? "" : `${nameOf(view, pendingKong.seat)} declares a kong of ${shortName(kindOf(tile))}`;
}
