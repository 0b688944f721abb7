/** Everything the client knows about the table it watches, and what server messages make of it. */

import { clone, create } from "@bufbuild/protobuf";
import type { SeenDraw } from "../fairness";
import type { RatingsChanged } from "../gen/eastwind/edge/v1/frames_pb";
import type { TableEvent } from "../gen/eastwind/table/v1/event_pb";
import { DrawSource, TableEventSchema } from "../gen/eastwind/table/v1/event_pb";
import type { TableUpdate, TableView } from "../gen/eastwind/table/v1/view_pb";
import { DecisionViewSchema, TablePhase, TableViewSchema } from "../gen/eastwind/table/v1/view_pb";
import { type Action, ActionType } from "../gen/eastwind/type/v1/action_pb";
import type { LogLine, RatingModel, WallCheck } from "../model";
import type { TileId } from "../tiles/notation";
import { applyEvent, type NextSeals } from "./fold";
import { logLine } from "./log";

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
  readonly draws: readonly SeenDraw[] | null;
}

export interface RatingStep {
  readonly before: RatingModel;
  readonly after: RatingModel;
}

export interface TableState {
  readonly view: TableView;
  /** The viewer's sequence; -1 while a gap waits for the whole view. */
  readonly sequence: bigint;
  readonly nextSeals: NextSeals;
  readonly pending: Pending | null;
  /** The command that said ready, while its answer is missing. */
  readonly readySent: string | null;
  readonly notice: string;
  readonly log: readonly LogLine[];
  /** null when the seal of the hand is not known. */
  readonly witness: HandWitness | null;
  readonly wall: WallCheck;
  /** The dealer and the round of the hand that is shown, while the view is on to the next. */
  readonly played: { readonly hand: number; readonly dealer: number; readonly prevailing: number };
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
  const next: Writable<TableState> = { ...state, view, nextSeals: [...state.nextSeals] };
  fresh.forEach((event, index) => {
    note(next, event, `${update.sequence}.${index}`);
    applyEvent(view, event, next.nextSeals);
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
  const sameHand = before !== null && before.played.hand === view.hand;
  return settlePending({
    view,
    sequence,
    nextSeals: [],
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
    played: sameHand ? before.played : guessPlayed(view),
    ratings: before?.ratings ?? new Map(),
    steps: sameHand ? before.steps : new Map(),
    arrival: arrange(before?.arrival ?? [], own),
  });
}

/** The dealer of the hand that a view shows. After the settlement the view is on to the next deal. */
function guessPlayed(view: TableView): TableState["played"] {
  const winner = view.settled?.winner;
  const passed = view.settled !== undefined && winner !== undefined && winner !== view.dealer;
  const changes = view.dealerChanges - (passed ? 1 : 0);
  return {
    hand: view.hand,
    dealer: passed ? (view.dealer + 3) % 4 : view.dealer,
    prevailing: passed ? Math.floor(changes / 4) % 4 : view.prevailingWind,
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function note(state: Writable<TableState>, event: TableEvent, id: string): void {
  const { event: what } = event;
  if (what.case === "handStarted") {
    const { hand, dealer, prevailingWind, commitment } = what.value;
    state.log = [];
    state.readySent = null;
    state.notice = "";
    state.steps = new Map();
    state.arrival = [];
    state.wall = "unavailable";
    state.played = { hand, dealer, prevailing: prevailingWind };
    state.witness = { hand, dealer, seal: commitment, dealt: [], draws: [] };
  }
  const line = logLine(state.view, event, id);
  if (line) state.log = [...state.log, line];
  if (!state.witness) return;
  if (what.case === "handSettled") state.wall = "checking";
  const { draws } = state.witness;
  if (draws === null) return;
  if (what.case === "tilesDealt") {
    const own = state.view.viewer === undefined ? [] : (what.value.hands[state.view.viewer]?.tiles ?? []);
    state.witness = { ...state.witness, dealt: own };
  } else if (what.case === "tileDrawn" && state.view.kongBoxCount === 0) {
    const draw = { fromBack: what.value.source !== DrawSource.WALL, tile: what.value.tile ?? null };
    state.witness = { ...state.witness, draws: [...draws, draw] };
  } else if (what.case === "bonusExposed") {
    state.witness = { ...state.witness, draws: withBonus(draws, what.value.tile) };
  }
}

/**
 * A bonus tile that is laid open after an ordinary draw, or its replacement, is the tile that was drawn. Before the first
 * ordinary draw it may as well be one that was dealt.
 */
function withBonus(draws: readonly SeenDraw[], tile: TileId): readonly SeenDraw[] {
  const last = draws.at(-1);
  const dealing = draws.every(({ fromBack }) => fromBack);
  return last && last.tile === null && !dealing ? [...draws.slice(0, -1), { ...last, tile }] : draws;
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
  if (!pending || pending.action.type !== ActionType.DISCARD || view.viewer === undefined) return view;
  const tile = pending.action.tiles[0];
  if (tile === undefined) return view;
  const shown = clone(TableViewSchema, view);
  const event: TableEvent["event"] = {
    case: "tileDiscarded",
    value: { $typeName: "eastwind.table.v1.TileDiscarded", seat: view.viewer, tile, originalCall: false },
  };
  applyEvent(shown, create(TableEventSchema, { event }), []);
  return shown;
}
