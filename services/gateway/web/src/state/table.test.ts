import { clone, create, toJson } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { wallHolds } from "../fairness";
import { RatingsChangedSchema } from "../gen/eastwind/edge/v1/frames_pb";
import {
  TablePhase,
  type TableUpdate,
  TableUpdateSchema,
  type TableView,
  TableViewSchema,
} from "../gen/eastwind/table/v1/view_pb";
import { ActionType } from "../gen/eastwind/type/v1/action_pb";
import { type Recording, recordings } from "./recordings";
import { factsOf } from "./rulesets";
import { shownDealer } from "./seats";
import {
  afterRatings,
  afterRefusal,
  afterUpdate,
  comingHand,
  GAP,
  shownView,
  type TableState,
  withPending,
} from "./table";

let all: readonly Recording[];
beforeAll(() => {
  all = recordings();
});

function told(state: TableState | null, update: TableUpdate): TableState {
  const next = afterUpdate(state, update);
  if (next === GAP) throw new Error("a recording has no gaps");
  return next;
}

/** An update that only says who is connected. */
function connectedNow({ view, sequence }: TableState): TableUpdate {
  return create(TableUpdateSchema, { tableId: view.tableId, sequence, connected: [true, true, true, true] });
}

/** A view as text. The decision comes with the update around it, and is compared there. */
function text(view: TableView): unknown {
  const copy = clone(TableViewSchema, view);
  delete copy.decision;
  return toJson(TableViewSchema, copy);
}

function played(recording: Recording, until: (state: TableState) => boolean): TableState {
  let state: TableState | null = null;
  for (const update of recording.updates) {
    state = told(state, update);
    if (until(state)) return state;
  }
  throw new Error("the recording never comes there");
}

const seated = () => all.filter(({ viewer }) => viewer >= 0);
const settled = (state: TableState) => state.view.settled !== undefined;

test("events fold to the view that the server would send", () => {
  expect(all.length).toBeGreaterThan(2);
  for (const recording of all) {
    let state: TableState | null = null;
    let compared = 0;
    recording.updates.forEach((update, index) => {
      state = told(state, update);
      const check = recording.checks.get(index + 1);
      if (!check?.view) return;
      compared += 1;
      expect(text(state.view), `${recording.ending}, update ${index + 1}`).toEqual(text(check.view));
      expect(state.sequence).toBe(check.sequence);
    });
    expect(compared).toBe(recording.checks.size);
  }
});

test("an update that was seen already changes nothing, one that overlaps adds only what is new", () => {
  const recording = seated()[0] as Recording;
  const { updates } = recording;
  let state = told(null, updates[0] as TableUpdate);
  state = told(state, updates[1] as TableUpdate);
  const again = told(state, updates[1] as TableUpdate);
  expect(text(again.view)).toEqual(text(state.view));
  const [second, third] = [updates[1] as TableUpdate, updates[2] as TableUpdate];
  const both = create(TableUpdateSchema, { ...third, events: [...second.events, ...third.events] });
  const direct = told(state, third);
  expect(text(told(state, both).view)).toEqual(text(direct.view));
});

test("a gap is noticed and asks for the whole view", () => {
  const { updates } = seated()[0] as Recording;
  const state = told(null, updates[0] as TableUpdate);
  expect(afterUpdate(state, updates[2] as TableUpdate)).toBe(GAP);
  expect(afterUpdate(null, updates[1] as TableUpdate)).toBe(GAP);
});

test("what a viewer was told of a hand agrees with its wall", async () => {
  for (const recording of seated()) {
    const state = played(recording, settled);
    const { view, witness } = state;
    expect(state.wall).toBe("checking");
    const wall = view.settled?.wall;
    if (!wall || !witness?.draws) throw new Error("the hand was watched from its deal");
    const ruleset = view.settings?.ruleset ?? "";
    const opened = { ...wall, tableId: view.tableId, ruleset };
    const { kongBox } = factsOf(ruleset);
    const seen = { ...witness, draws: witness.draws, kongBox, seat: recording.viewer, nonce: null };
    expect(witness.draws.length).toBeGreaterThan(20);
    expect(await wallHolds(opened, seen)).toBe(true);
    expect(await wallHolds({ ...opened, hand: opened.hand + 1 }, seen)).toBe(false);
    expect(await wallHolds(opened, { ...seen, seal: new Uint8Array(32) })).toBe(false);
    expect(await wallHolds(opened, { ...seen, nonce: new Uint8Array(32) })).toBe(false);
    const swapped = [...witness.draws];
    const own = swapped.findIndex(({ tile }) => tile !== null);
    swapped[own] = { ...(swapped[own] as (typeof swapped)[0]), tile: ((swapped[own]?.tile ?? 0) + 4) % 136 };
    expect(await wallHolds(opened, { ...seen, draws: swapped })).toBe(false);
  }
});

test("a hand that was joined halfway is checked by its seal and numbers", async () => {
  const recording = seated()[0] as Recording;
  const [count, check] = [...recording.checks].find(([, { view }]) => view?.phase === TablePhase.PLAYING) ?? [];
  if (count === undefined || !check) throw new Error("the recording has a view of a running hand");
  let state = told(null, check);
  for (const update of recording.updates.slice(count)) if (!settled(state)) state = told(state, update);
  const wall = state.view.settled?.wall;
  if (!wall || !state.witness) throw new Error("the hand was settled");
  expect(state.wall).toBe("checking");
  expect(state.witness.draws).toBeNull();
  const opened = { ...wall, tableId: state.view.tableId, ruleset: "hkos-3-v1" };
  const seen = { ...state.witness, draws: [], kongBox: 0, seat: recording.viewer, nonce: null };
  expect(await wallHolds(opened, seen)).toBe(true);
});

test("after the settlement the shown hand keeps its dealer, and the coming hand is the next", () => {
  const recording = seated()[0] as Recording;
  const state = played(recording, settled);
  const started = recording.updates.flatMap(({ events }) => events.map(({ event }) => event));
  const first = started.find((event) => event.case === "handStarted");
  expect(first?.case === "handStarted" && first.value.dealer).toBe(shownDealer(state.view));
  expect(comingHand(state.view)).toBe(state.view.hand + 1);
});

/** The first state in which the viewer of a recording has to discard. */
function toDiscard(): TableState {
  return played(seated()[0] as Recording, ({ view }) =>
    Boolean(view.decision?.options.some(({ action }) => action?.type === ActionType.DISCARD)),
  );
}

test("a discard lies in the river at once and comes back when the server refuses it (C105)", () => {
  const state = toDiscard();
  const own = state.view.viewer as number;
  const option = state.view.decision?.options.find(({ action }) => action?.type === ActionType.DISCARD);
  const action = option?.action;
  if (!action || !state.view.decision) throw new Error("there is a discard to choose");
  const sent = withPending(state, { commandId: "c1", decision: state.view.decision.decision, action });
  const shown = shownView(sent);
  expect(shown.seats[own]?.river.at(-1)?.tile).toBe(action.tiles[0]);
  expect(shown.seats[own]?.tiles).not.toContain(action.tiles[0]);
  expect(text(sent.view)).toEqual(text(state.view));
  const refused = afterRefusal(sent, "c1", "Too late.");
  expect(text(shownView(refused))).toEqual(text(state.view));
  expect(refused.notice).toBe("Too late.");
});

test("the refusal of an older command leaves the newer one on its way", () => {
  const state = toDiscard();
  const decision = state.view.decision;
  const action = decision?.options[0]?.action;
  if (!decision || !action) throw new Error("something is asked");
  const sent = withPending(state, { commandId: "c2", decision: decision.decision, action });
  expect(afterRefusal(sent, "c1", "").pending?.commandId).toBe("c2");
});

test("a command is answered once its decision is over", () => {
  const recording = seated()[0] as Recording;
  const state = toDiscard();
  const decision = state.view.decision;
  const action = decision?.options[0]?.action;
  if (!decision || !action) throw new Error("something is asked");
  let next = withPending(state, { commandId: "c1", decision: decision.decision, action });
  for (const update of recording.updates.filter(({ sequence }) => sequence > state.sequence).slice(0, 1)) {
    next = told(next, update);
  }
  expect(next.pending).toBeNull();
});

test("the log tells the hand from its deal, oneself as You, and begins anew with the next", () => {
  const recording = seated()[0] as Recording;
  const state = played(recording, settled);
  const lines = state.log.map(({ who, what }) => `${who} ${what}`);
  expect(lines[0]).toMatch(/deals? hand 1$/);
  expect(lines.some((line) => line.startsWith("You discard "))).toBe(true);
  expect(new Set(state.log.map(({ id }) => id)).size).toBe(state.log.length);
  const second = played(recording, ({ view }) => view.phase === TablePhase.PLAYING && view.hand === 2);
  expect(second.log[0]?.what).toMatch(/deals? hand 2$/);
});

test("a spectator sees no tile that is not public", () => {
  const recording = all.find(({ viewer }) => viewer === -1) as Recording;
  const state = played(recording, ({ view }) => view.wallCount < 60 && view.wallCount > 0);
  for (const seat of state.view.seats) {
    expect(seat.tiles).toEqual([]);
    expect(seat.tileCount).toBeGreaterThan(0);
  }
});

test("ratings that changed are kept with what they were", () => {
  const state = toDiscard();
  const changes = [{ accountId: "account-0", before: 1500, after: 1512, provisional: true }];
  const after = afterRatings(state, create(RatingsChangedSchema, { tableId: state.view.tableId, changes }));
  expect(after.ratings.get("account-0")).toEqual({ value: 1512, provisional: true });
  expect(after.steps.get("account-0")?.before.value).toBe(1500);
});

test("news of who is connected leave the running decision as it is", () => {
  for (const recording of seated()) {
    const state = played(recording, ({ view }) => (view.decision?.options.length ?? 0) > 0);
    const after = told(state, connectedNow(state));
    expect(after.view.decision).toEqual(state.view.decision);
    expect(after.view.seats.every(({ connected }) => connected)).toBe(true);
  }
});
