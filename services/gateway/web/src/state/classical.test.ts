import { clone, create } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { type HandScore, HandScoreSchema, Unit } from "../gen/eastwind/scoring/v1/score_pb";
import { ExplainHandResponseSchema } from "../gen/eastwind/scoring/v1/scoring_service_pb";
import { DecisionKind } from "../gen/eastwind/table/v1/event_pb";
import { DecisionViewSchema, OptionSchema, TablePhase, TableViewSchema } from "../gen/eastwind/table/v1/view_pb";
import { ActionSchema, ActionType } from "../gen/eastwind/type/v1/action_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import type { SettlementModel } from "../model";
import { worthOf } from "./explain";
import { type Surroundings, tableModel } from "./present";
import { actionOf, discardOf, promptOf } from "./prompt";
import { type Recording, recordings } from "./recordings";
import { itemsOf, pointsOf, sumWords } from "./score";
import { matchModel, withHand } from "./sheet";
import { afterUpdate, GAP, shownView, type TableState, withPending } from "./table";

const around: Surroundings = {
  connection: "live",
  latencyMs: null,
  serverOffsetMs: 0,
  rulesets: new Map([["classical", "Chinese Classical"]]),
  switches: { sort: true, passClaims: false, takeWins: false },
  worth: null,
  waits: [],
  code: "",
};

let recording: Recording;
let states: readonly TableState[];

beforeAll(() => {
  recording = recordings().find(({ updates }) => updates[0]?.view?.settings?.ruleset === "classical") as Recording;
  const found: TableState[] = [];
  for (const update of recording.updates) {
    const next = afterUpdate(found.at(-1) ?? null, update);
    if (next === GAP) throw new Error("a recording has no gaps");
    found.push(next);
  }
  states = found;
});

function first(wanted: (state: TableState) => boolean): TableState {
  const found = states.find(wanted);
  if (!found) throw new Error("the recording never comes there");
  return found;
}

const mayCall = (state: TableState) => (promptOf(state)?.calls.length ?? 0) > 0;
const own = ({ view }: TableState) => view.seats[view.viewer ?? -1];
const settled = ({ view }: TableState) => view.settled !== undefined;

function settlementOf(state: TableState): SettlementModel {
  const { settlement } = tableModel(state, around);
  if (!settlement) throw new Error("the hand is settled");
  return settlement;
}

test("the wall and the kong box are counted apart", () => {
  const dealt = first(({ view }) => view.phase === TablePhase.PLAYING);
  expect(tableModel(dealt, around)).toMatchObject({ kongBoxCount: 16 });
  const ended = first(settled);
  expect(tableModel(ended, around).kongBoxCount).toBeLessThan(16);
});

test("a first discard may carry an Original Call, with the tiles that leave a ready hand", () => {
  const state = first(mayCall);
  const prompt = promptOf(state);
  const [tile] = prompt?.calls ?? [];
  if (!prompt || tile === undefined) throw new Error("a call is offered");
  expect(prompt.discards).toEqual(expect.arrayContaining([...prompt.calls]));
  expect(discardOf(state.view, tile, true)).toMatchObject({ type: ActionType.ORIGINAL_CALL, tiles: [tile] });
  expect(discardOf(state.view, tile)).toMatchObject({ type: ActionType.DISCARD, tiles: [tile] });
  const other = prompt.discards.find((each) => !prompt.calls.includes(each));
  expect(other === undefined ? null : discardOf(state.view, other, true)).toBeNull();
});

test("a call on its way lies in the river with its mark", () => {
  const state = first(mayCall);
  const tile = promptOf(state)?.calls[0] as number;
  const action = discardOf(state.view, tile, true);
  if (!action || !state.view.decision) throw new Error("a call is offered");
  const sent = withPending(state, { commandId: "c", decision: state.view.decision.decision, action });
  expect(shownView(sent).seats[state.view.viewer ?? 0]?.river).toMatchObject([{ tile, originalCall: true }]);
  expect(tableModel(sent, around).seats[0]).toMatchObject({ called: true, river: [{ tile, called: true }] });
});

test("after the call only the drawn tile may be discarded, and no further call is offered", () => {
  const frozen = states.filter((state) => own(state)?.originalCall && (promptOf(state)?.discards.length ?? 0) > 0);
  expect(frozen.length).toBeGreaterThan(0);
  for (const state of frozen) {
    expect(promptOf(state)).toMatchObject({ discards: [own(state)?.drawn], calls: [] });
  }
});

test("the log says that a discard carried the call", () => {
  const called = first((state) => own(state)?.originalCall === true);
  expect(called.log.some(({ what }) => what.endsWith("with an Original Call"))).toBe(true);
});

test("all four hands are itemised, and every payment says how it came about", () => {
  const state = first(settled);
  const settlement = settlementOf(state);
  const scores = state.view.settled?.scores ?? [];
  expect(settlement.wins[0]?.patterns.some(({ name }) => name === "Original Call")).toBe(true);
  expect(settlement.others.map(({ wind }) => wind).sort()).toEqual([1, 2, 3]);
  for (const other of settlement.others) {
    const score = scores[(other.place + (state.view.viewer ?? 0)) % 4]?.score;
    expect(other.total).toMatch(new RegExp(`\\b${(score?.value ?? 0).toLocaleString("en")} points$`));
    expect(other.patterns.length > 0).toBe((score?.items.length ?? 0) > 0);
  }
  // The winner deals: everybody pays him double, and nobody else's payments are.
  const toWinner = settlement.payments.filter(({ to }) => to === "You");
  expect(toWinner).toHaveLength(3);
  expect(toWinner.every(({ how }) => how.endsWith(", doubled for East"))).toBe(true);
  expect(settlement.payments.filter(({ to }) => to !== "You").every(({ how }) => / − \d+$/.test(how))).toBe(true);
  const paid = settlement.payments.reduce((sum, { to, amount }) => sum + (to === "You" ? amount : 0), 0);
  expect(settlement.seats[0]?.change).toBe(paid);
  expect(settlement).toMatchObject({ readyByItself: true, standings: null });
});

test("the value of a score is told as base and doubles, or as the limit", () => {
  const items = [
    { pattern: "a", name: "A", amount: 48, unit: Unit.POINTS },
    { pattern: "b", name: "B", amount: 3, unit: Unit.DOUBLES },
  ];
  const worth = (more: Partial<Pick<HandScore, "total" | "value" | "limit">>) =>
    sumWords(create(HandScoreSchema, { legal: true, items, ...more }), "points");
  expect(worth({ total: 384, value: 384 })).toBe("48 × 2³ = 384 points");
  expect(worth({ total: 1536, value: 1000 })).toBe("48 × 2³ = 1,536, limit 1,000 points");
  expect(worth({ total: 1000, value: 1000, limit: "x" })).toBe("Limit, 1,000 points");
  expect(pointsOf(create(HandScoreSchema, { items }).items)).toBe(384);
});

test("items are said as people say them, equal ones on one line", () => {
  const { items } = create(HandScoreSchema, {
    items: [
      { name: "open pung 4m", amount: 2, unit: Unit.POINTS },
      { name: "concealed kong 1z", amount: 32, unit: Unit.POINTS },
      { name: "bonus tile", amount: 4, unit: Unit.POINTS },
      { name: "bonus tile", amount: 4, unit: Unit.POINTS },
      { name: "pure suit", amount: 3, unit: Unit.DOUBLES },
    ],
  });
  expect(itemsOf(items)).toEqual([
    { name: "Open pung of 4 characters", value: "2" },
    { name: "Concealed kong of east winds", value: "32" },
    { name: "Bonus tile × 2", value: "8" },
    { name: "Pure suit", value: "3 doubles" },
  ]);
});

test("before the first discard one continues instead of passing", () => {
  const state = first(mayCall);
  const view = clone(TableViewSchema, state.view);
  view.decision = create(DecisionViewSchema, {
    decision: 9n,
    kind: DecisionKind.OPENING_KONG,
    seat: view.viewer ?? 0,
    options: [
      create(OptionSchema, { action: create(ActionSchema, { type: ActionType.CONCEALED_KONG, tiles: [0, 1, 2, 3] }) }),
      create(OptionSchema, { action: create(ActionSchema, { type: ActionType.PASS }) }),
    ],
  });
  const asked = { ...state, view };
  const prompt = promptOf(asked);
  expect(prompt?.choices.map(({ action }) => action)).toEqual([
    { type: "kong", tiles: [0, 1, 2, 3], concealed: true },
    { type: "pass", opening: true },
  ]);
  expect(actionOf(view.decision, prompt?.choices[1]?.id ?? "")?.type).toBe(ActionType.PASS);
  expect(tableModel(asked, around).notice).toMatch(/^Before the first discard/);
});

test("the score sheet adds up, hand by hand, with the dealer and the round of each", () => {
  const state = states.at(-1) as TableState;
  const match = tableModel(state, around).match;
  if (!match) throw new Error("classical is played as a match");
  expect(match.lines.map(({ hand }) => hand)).toEqual([1, 2]);
  expect(match.missing).toBe(false);
  match.totals.forEach((total, place) => {
    expect(match.lines.reduce((sum, { changes }) => sum + (changes[place] ?? 0), match.startingPoints)).toBe(total);
  });
  // The dealer won the first hand and deals the second.
  expect(match.lines[1]?.dealer).toBe(match.lines[0]?.dealer);
});

test("hands before one came are asked for, and the sheet begins once they are here", () => {
  const { view } = states.at(-1) as TableState;
  const second = { hand: 2, winner: null, changes: [0, 0, 0, 0] };
  expect(matchModel(view, [second])).toMatchObject({ lines: [], missing: true });
  const both = withHand([second], { hand: 1, winner: null, changes: [0, 0, 0, 0] });
  expect(matchModel(view, both)).toMatchObject({ lines: [{ hand: 1 }, { hand: 2 }], missing: false });
});

test("a reload during the settlement shows the winds of the finished hand", () => {
  const { view, sequence } = first(settled);
  const reloaded = afterUpdate(null, { ...(recording.updates[0] as (typeof recording.updates)[0]), view, sequence });
  if (reloaded === GAP) throw new Error("a whole view is no gap");
  const winds = (state: TableState) => tableModel(state, around).seats.map(({ wind }) => wind);
  expect(winds(reloaded)).toEqual(winds(first(settled)));
  // Had the deal passed already, the hand that is shown would still be that of its own dealer.
  const passed = { ...view, dealer: (view.dealer + 1) % 4 };
  expect(winds({ ...reloaded, view: passed })).toEqual(winds(reloaded));
});

test("a match that is over tells the places, ties sharing the better one", () => {
  const state = first(settled);
  const view = clone(TableViewSchema, state.view);
  view.phase = TablePhase.CLOSED;
  view.closeReason = Reason.MATCH_OVER;
  [3000, 1500, 1500, 2000].forEach((points, seat) => {
    const each = view.seats[seat];
    if (each) each.points = points;
  });
  const { standings, over } = settlementOf({ ...state, view });
  expect(over).toBe(true);
  expect(standings?.map(({ rank, points }) => [rank, points])).toEqual([
    [1, 3000],
    [2, 2000],
    [3, 1500],
    [3, 1500],
  ]);
});

test("what the hand is worth is told in points", () => {
  const state = first(mayCall);
  const certain = [
    { pattern: "bonus", name: "Flowers and seasons", amount: 8, unit: Unit.POINTS },
    { pattern: "own", name: "Own flower and season", amount: 1, unit: Unit.DOUBLES },
  ];
  expect(worthOf(state.view, create(ExplainHandResponseSchema, { distance: 2, certain }))).toMatchObject({
    total: "16 points",
    patterns: [{ value: "8" }, { value: "1 double" }],
  });
});
