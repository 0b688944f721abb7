/** Everything the client knows about the table it watches, and what server messages make of it. */

import { clone, create } from "@bufbuild/protobuf";
import type { SeenDraw } from "../fairness";
import type { RatingsChanged } from "../gen/eastwind/edge/v1/frames_pb";
import type { BonusExposed, TableEvent } from "../gen/eastwind/table/v1/event_pb";
import { DrawSource, TableEventSchema } from "../gen/eastwind/table/v1/event_pb";
import type { TableUpdate, TableView } from "../gen/eastwind/table/v1/view_pb";
import { DecisionViewSchema, TablePhase, TableViewSchema } from "../gen/eastwind/table/v1/view_pb";
import { type Action, ActionType } from "../gen/eastwind/type/v1/action_pb";
import type { LogLine, RatingModel, WallCheck } from "../model";
import type { TileId } from "../tiles/notation";
import { applyEvent } from "./fold";
import { logLine } from "./log";
import { factsOf } from "./rulesets";
import { type PlayedHand, withHand, withSettled } from "./sheet";

/** A command of which the answer is missing. */
export interface Pending {
  readonly commandId: string;
  readonly decision: bigint;
  readonly action: Action;
}

/** What was seen of the running or the last hand, for checking its wall. */
export interface HandWitness {
  readonly hand: number;
  readonly dealer: number;
  readonly seal: Uint8Array;
  readonly dealt: readonly TileId[];
  /** null when the hand was not watched from its deal: seal and numbers can be checked then, the tiles cannot. */
  readonly draws: readonly WitnessedDraw[] | null;
}

/** A draw, and whose it was. */
export interface WitnessedDraw extends SeenDraw {
  readonly seat: number;
}

export interface RatingStep {
  readonly before: RatingModel;
  readonly after: RatingModel;
}

export interface TableState {
  readonly view: TableView;
  /** The viewer's sequence; -1 while a gap waits for the whole view. */
  readonly sequence: bigint;
  readonly pending: Pending | null;
  /** The command that said ready, while its answer is missing. */
  readonly readySent: string | null;
  readonly notice: string;
  readonly log: readonly LogLine[];
  /** null when the seal of the hand is not known. */
  readonly witness: HandWitness | null;
  readonly wall: WallCheck;
  /** The finished hands of the running match that are known, by their number. */
  readonly sheet: readonly PlayedHand[];
  readonly ratings: ReadonlyMap<string, RatingModel>;
  /** Rating changes of the finished hand by account. */
  readonly steps: ReadonlyMap<string, RatingStep>;
  /** The order in which the own tiles came, for those who sort them by hand. */
  readonly arrival: readonly TileId[];
}

export const GAP = "gap";

/** The state after an update; `GAP` when events are missing in between and the whole view has to be asked for. */
export function afterUpdate(state: TableState | null, update: TableUpdate): TableState | typeof GAP {
  if (update.view) return fromView(state, update.view, update.sequence);
  if (!state) return GAP;
  const already = state.sequence - (update.sequence - BigInt(update.events.length));
  if (already < 0n) return GAP;
  const fresh = update.events.slice(Number(already));
  const view = clone(TableViewSchema, state.view);
  const next: Writable<TableState> = { ...state, view };
  fresh.forEach((event, index) => {
    note(next, event, `${update.sequence}.${index}`);
    applyEvent(view, event);
    noteAfter(next, event);
  });
  if (update.connected.length > 0) {
    for (const seat of view.seats) seat.connected = update.connected[seat.seat] ?? seat.connected;
  }
  // An update without events, such as one of who is connected, says nothing about the decision.
  if (update.events.length > 0 && already <= BigInt(update.events.length)) {
    if (update.decision) view.decision = clone(DecisionViewSchema, update.decision);
    else delete view.decision;
    next.sequence = update.sequence;
  }
  return settlePending(next);
}

function fromView(state: TableState | null, view: TableView, sequence: bigint): TableState {
  const own = view.viewer === undefined ? [] : (view.seats[view.viewer]?.tiles ?? []);
  const before = state?.view.tableId === view.tableId ? state : null;
  const sameHand = before !== null && before.view.hand === view.hand;
  return settlePending({
    view,
    sequence,
    pending: before?.pending ?? null,
    readySent: null,
    // The server sends the view anew when it refuses a move: why it did stays on the screen.
    notice: sameHand ? before.notice : "",
    log: sameHand ? before.log : [],
    // Draws may have been missed: only a hand that was watched without a gap can be checked tile by tile.
    witness:
      view.phase === TablePhase.PLAYING
        ? { hand: view.hand, dealer: view.dealer, seal: view.commitment, dealt: [], draws: null }
        : null,
    wall: "unavailable",
    sheet: withSettled(before?.sheet ?? [], view),
    ratings: before?.ratings ?? new Map(),
    steps: sameHand ? before.steps : new Map(),
    arrival: arrange(before?.arrival ?? [], own),
  });
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function note(state: Writable<TableState>, event: TableEvent, id: string): void {
  const { event: what } = event;
  if (what.case === "handStarted") {
    const { hand, dealer, commitment } = what.value;
    state.log = [];
    state.readySent = null;
    state.notice = "";
    state.steps = new Map();
    state.arrival = [];
    state.wall = "unavailable";
    state.witness = { hand, dealer, seal: commitment, dealt: [], draws: [] };
  }
  const line = logLine(state.view, event, id);
  if (line) state.log = [...state.log, line];
  if (what.case === "handSettled") {
    const { winner, changes } = what.value;
    state.sheet = withHand(state.sheet, { hand: state.view.hand, winner: winner ?? null, changes });
  }
  if (!state.witness) return;
  if (what.case === "handSettled") state.wall = "checking";
  const { draws } = state.witness;
  if (draws === null) return;
  if (what.case === "tilesDealt") {
    const own = state.view.viewer === undefined ? [] : (what.value.hands[state.view.viewer]?.tiles ?? []);
    state.witness = { ...state.witness, dealt: own };
  } else if (what.case === "tileDrawn") {
    const { seat, tile, source } = what.value;
    const draw = { from: drawnFrom(state.view, source), tile: tile ?? null, seat };
    state.witness = { ...state.witness, draws: [...draws, draw] };
  } else if (what.case === "bonusExposed" && state.view.seats.some(({ river }) => river.length > 0)) {
    state.witness = { ...state.witness, draws: withBonus(draws, what.value) };
  }
}

function drawnFrom({ settings }: TableView, source: DrawSource): SeenDraw["from"] {
  const { kongFrom, bonusFrom } = factsOf(settings?.ruleset);
  if (source === DrawSource.KONG) return kongFrom;
  return source === DrawSource.BONUS ? bonusFrom : "front";
}

/**
 * A bonus tile that a seat lays open right after its draw is the tile that was drawn. Before the first discard it may as
 * well be one that was dealt.
 */
function withBonus(draws: readonly WitnessedDraw[], { seat, tile }: BonusExposed): readonly WitnessedDraw[] {
  const last = draws.at(-1);
  return last && last.tile === null && last.seat === seat ? [...draws.slice(0, -1), { ...last, tile }] : draws;
}

function noteAfter(state: Writable<TableState>, { event }: TableEvent): void {
  const { view } = state;
  if (view.viewer === undefined) return;
  if (event.case === "tilesDealt" || event.case === "tileDrawn" || event.case === "tileDiscarded") {
    state.arrival = arrange(state.arrival, view.seats[view.viewer]?.tiles ?? []);
  }
}

/** Tiles that stayed keep their order, new ones come last. */
function arrange(order: readonly TileId[], tiles: readonly TileId[]): readonly TileId[] {
  const kept = order.filter((tile) => tiles.includes(tile));
  return [...kept, ...tiles.filter((tile) => !kept.includes(tile))];
}

/** A command counts as answered once its decision is gone or the server holds the answer (C105). */
function settlePending(state: TableState): TableState {
  const { pending, view } = state;
  if (!pending) return state;
  const { decision } = view;
  const open = decision !== undefined && decision.decision === pending.decision && decision.options.length > 0;
  return open ? state : { ...state, pending: null };
}

/** The hand that is played or, between hands, the one that follows. */
export function comingHand(view: TableView): number {
  return view.settled ? view.hand + 1 : view.hand;
}

/** Remembers a command on its way. */
export function withPending(state: TableState, pending: Pending): TableState {
  return { ...state, pending, notice: "" };
}

/** The server refused: the screen goes back to what is true and says why (C105). */
export function afterRefusal(state: TableState, commandId: string, notice: string): TableState {
  return {
    ...state,
    notice,
    pending: state.pending?.commandId === commandId ? null : state.pending,
    readySent: state.readySent === commandId ? null : state.readySent,
  };
}

/** New ratings, and how they came about. */
export function afterRatings(state: TableState, { changes }: RatingsChanged): TableState {
  const ratings = new Map(state.ratings);
  const steps = new Map(state.steps);
  for (const change of changes) {
    const known = ratings.get(change.accountId);
    const before = { value: change.before, provisional: known?.provisional ?? change.provisional };
    const after = { value: change.after, provisional: change.provisional };
    ratings.set(change.accountId, after);
    steps.set(change.accountId, { before, after });
  }
  return { ...state, ratings, steps };
}

/** The view as the screen shows it: a discard that is on its way lies in the river already. */
export function shownView(state: TableState): TableView {
  const { pending, view } = state;
  const { DISCARD, ORIGINAL_CALL } = ActionType;
  const type = pending?.action.type;
  if (!pending || (type !== DISCARD && type !== ORIGINAL_CALL) || view.viewer === undefined) return view;
  const tile = pending.action.tiles[0];
  if (tile === undefined) return view;
  const shown = clone(TableViewSchema, view);
  const event: TableEvent["event"] = {
    case: "tileDiscarded",
    value: {
      $typeName: "eastwind.table.v1.TileDiscarded",
      seat: view.viewer,
      tile,
      originalCall: type === ORIGINAL_CALL,
    },
  };
  applyEvent(shown, create(TableEventSchema, { event }));
  return shown;
}
