import { create } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { ExplainHandResponseSchema } from "../gen/eastwind/scoring/v1/scoring_service_pb";
import { TablePhase, type TableUpdate } from "../gen/eastwind/table/v1/view_pb";
import { ActionType } from "../gen/eastwind/type/v1/action_pb";
import type { TableModel } from "../model";
import { question, questionKey, unseenOf, waitsOf, worthOf } from "./explain";
import { type Surroundings, tableModel } from "./present";
import { actionOf, discardOf, promptOf } from "./prompt";
import { type Recording, recordings } from "./recordings";
import { shownDealer } from "./seats";
import { afterUpdate, GAP, type TableState, withPending } from "./table";

const around: Surroundings = {
  connection: "live",
  latencyMs: null,
  serverOffsetMs: 0,
  rulesets: new Map([
    ["hkos-3-v1", "Hong Kong Old Style"],
    ["classical", "Chinese Classical"],
  ]),
  switches: { sort: true, passClaims: false, takeWins: false },
  worth: null,
  waits: [],
  code: "",
};

let all: readonly Recording[];
beforeAll(() => {
  all = recordings();
});

function states(recording: Recording): TableState[] {
  const found: TableState[] = [];
  let state: TableState | null = null;
  for (const update of recording.updates as TableUpdate[]) {
    const next = afterUpdate(state, update);
    if (next === GAP) throw new Error("a recording has no gaps");
    state = next;
    found.push(state);
  }
  return found;
}

const everyState = () => all.flatMap(states);

function tilesShown(model: TableModel): number[] {
  return model.seats.flatMap((seat) => [
    ...(typeof seat.holding === "number" ? [] : seat.holding),
    ...(typeof seat.drawn === "number" ? [seat.drawn] : []),
    ...seat.river.filter(({ claimed }) => !claimed).map(({ tile }) => tile),
    ...seat.melds.flatMap(({ tiles }) => tiles),
    ...seat.bonus,
  ]);
}

test("no tile is ever shown in two places", () => {
  for (const state of everyState()) {
    const tiles = tilesShown(tableModel(state, around));
    // The winning tile of a discard stays named in the winner's hand alone.
    expect(new Set(tiles).size, `hand ${state.view.hand}, ${state.sequence}`).toBe(tiles.length);
  }
});

test("on the own turn every own tile may be discarded, equal ones too", () => {
  const turns = everyState().filter((state) => (promptOf(state)?.discards.length ?? 0) > 0);
  expect(turns.length).toBeGreaterThan(0);
  for (const state of turns) {
    const own = state.view.viewer === undefined ? undefined : state.view.seats[state.view.viewer];
    if (own?.originalCall) continue;
    expect([...(promptOf(state)?.discards ?? [])].sort()).toEqual([...(own?.tiles ?? [])].sort());
  }
});

test("the reader sits at the bottom, the seat that plays next at the right", () => {
  const recording = all.find(({ viewer }) => viewer === 2) as Recording;
  const model = tableModel(states(recording)[0] as TableState, around);
  expect(model.seats.map(({ name }) => name)).toEqual(["You", "Meilin", "Ines", "Tomas"]);
});

test("seat winds follow the dealer of the hand that is shown, also in its settlement", () => {
  for (const state of everyState().filter(({ view }) => view.settled)) {
    const model = tableModel(state, around);
    const winds = model.settlement?.seats.map(({ wind }) => wind) ?? [];
    expect([...winds].sort()).toEqual([0, 1, 2, 3]);
    const dealer = model.seats.find(({ wind }) => wind === 0);
    expect(dealer && (dealer.place + (state.view.viewer ?? 0)) % 4).toBe(shownDealer(state.view));
  }
});

test("changes in a settlement add to nothing and a win says who pays", () => {
  const settled = everyState()
    .map((state) => tableModel(state, around).settlement)
    .filter((each) => each !== null);
  expect(settled.length).toBeGreaterThan(2);
  for (const settlement of settled) {
    expect(settlement.seats.reduce((sum, { change }) => sum + change, 0)).toBe(0);
    for (const win of settlement.wins) {
      expect(win.total).toMatch(/^\d+ faan$| = \d+ points$/);
      expect(win.payment !== "" || settlement.payments.length > 0).toBe(true);
      expect(win.tiles.length % 3).toBe(1);
      expect(win.tiles).not.toContain(win.winning);
    }
    if (settlement.wins.length === 0) expect(settlement.sentence).toMatch(/^Drawn hand/);
  }
});

test("a settlement is shown once: it keeps its id over all updates until the next hand (C105)", () => {
  for (const recording of all) {
    const ids = states(recording).map((state) => tableModel(state, around).settlement?.id ?? null);
    const runs = ids.filter((id, index) => id !== null && id !== ids[index - 1]);
    expect(new Set(runs).size).toBe(runs.length);
  }
});

function asked(wanted: (types: readonly ActionType[]) => boolean): TableState {
  const found = everyState().find(({ view }) =>
    wanted(view.decision?.options.map(({ action }) => action?.type ?? ActionType.UNSPECIFIED) ?? []),
  );
  if (!found) throw new Error("no recording asks that");
  return found;
}

test("a claim offers its choices with pass, and each leads to the server's own action", () => {
  const state = asked((types) => types.includes(ActionType.PASS) && types.includes(ActionType.CHOW));
  const prompt = promptOf(state);
  const chow = prompt?.choices.find(({ action }) => action.type === "chow");
  expect(prompt?.choices.some(({ action }) => action.type === "pass")).toBe(true);
  expect(prompt?.discards).toEqual([]);
  expect(chow?.action.type === "chow" && chow.action.tiles).toContain(state.view.lastDiscard);
  expect(actionOf(state.view.decision, chow?.id ?? "")?.type).toBe(ActionType.CHOW);
  expect(actionOf(state.view.decision, "option-99")).toBeNull();
});

test("on the own turn every tile that may be discarded is known, and the drawn one lies apart", () => {
  const state = asked((types) => types.includes(ActionType.DISCARD));
  const model = tableModel(state, around);
  const own = model.seats[0];
  expect(own.deciding).toBe(true);
  expect(own.clock?.baseMs).toBe(5000);
  expect(model.prompt?.discards.length).toBeGreaterThan(0);
  const tile = model.prompt?.discards[0] as number;
  expect(discardOf(state.view, tile)?.tiles).toEqual([tile]);
  if (typeof own.drawn === "number") expect(own.holding).not.toContain(own.drawn);
});

test("an answer on its way closes the prompt without taking it from the screen", () => {
  const state = asked((types) => types.includes(ActionType.PASS));
  const action = state.view.decision?.options[0]?.action;
  if (!action || !state.view.decision) throw new Error("something is asked");
  const sent = withPending(state, { commandId: "c", decision: state.view.decision.decision, action });
  expect(promptOf(sent)).toMatchObject({ id: promptOf(state)?.id, answered: true });
});

test("between hands the table gathers, and says who is ready", () => {
  const recording = all.find(({ viewer }) => viewer === 0) as Recording;
  const ready = states(recording).filter(
    ({ view }) => view.phase === TablePhase.READY && view.hand === 1 && !view.settled,
  );
  const models = ready.map((state) => tableModel(state, around).gathering);
  expect(models[0]).toMatchObject({ ready: false, mayFill: false });
  expect(models.at(-1)?.ready).toBe(true);
});

test("tiles that are not sorted lie in the order in which they came", () => {
  const unsorted = { ...around, switches: { ...around.switches, sort: false } };
  const recording = all.find(({ viewer }) => viewer === 0) as Recording;
  let before: readonly number[] = [];
  let moved = 0;
  for (const state of states(recording).filter(({ view }) => view.hand === 1 && view.phase === TablePhase.PLAYING)) {
    const { holding } = tableModel(state, unsorted).seats[0];
    if (typeof holding === "number") throw new Error("own tiles are seen");
    const stayed = before.filter((tile) => holding.includes(tile));
    expect(holding.filter((tile) => stayed.includes(tile))).toEqual(stayed);
    if (holding.some((tile, index) => tile < (holding[index - 1] ?? 0))) moved += 1;
    before = holding;
  }
  expect(moved).toBeGreaterThan(0);
});

test("what is asked about the hand leaves out the drawn tile and counts what nobody has seen", () => {
  const state = asked((types) => types.includes(ActionType.DISCARD));
  const request = question(state.view);
  expect(request?.holding?.concealed.length).toBe(
    state.view.seats[state.view.viewer ?? 0]?.drawn === undefined ? 14 : 13,
  );
  const unseen = unseenOf(state.view);
  expect(unseen.every((count) => count >= 0 && count <= 4)).toBe(true);
  expect(request && questionKey(request)).toBe(request && questionKey(request));
  expect(question({ ...state.view, phase: TablePhase.WAITING })).toBeNull();
});

test("the panel says why a hand may not win yet", () => {
  const state = asked((types) => types.includes(ActionType.PASS) && !types.includes(ActionType.WIN));
  const far = create(ExplainHandResponseSchema, { distance: 2, minimum: 3 });
  expect(worthOf(state.view, far)).toMatchObject({
    total: "0 of 3 faan",
    mayWin: false,
    reason: "2 tiles away from waiting.",
  });
  const low = create(ExplainHandResponseSchema, {
    minimum: 3,
    waits: [{ kind: 4, onDiscard: { total: 1, value: 1 }, onSelfDraw: { total: 2, value: 2 } }],
  });
  expect(worthOf(state.view, low)?.reason).toBe("2 faan short on every tile that it waits for.");
  expect(waitsOf(state.view, low)[0]).toMatchObject({ kind: 4, tooLow: true });
  const selfDraw = create(ExplainHandResponseSchema, {
    minimum: 3,
    waits: [{ kind: 4, onDiscard: { total: 2, value: 2 }, onSelfDraw: { total: 3, value: 3, legal: true } }],
  });
  expect(worthOf(state.view, selfDraw)?.reason).toMatch(/^By self-draw only/);
  expect(waitsOf(state.view, selfDraw)[0]?.tooLow).toBe(false);
  const good = create(ExplainHandResponseSchema, {
    minimum: 3,
    waits: [{ kind: 4, onDiscard: { total: 4, value: 4, legal: true } }],
  });
  expect(worthOf(state.view, good)).toMatchObject({ total: "4 of 3 faan", mayWin: true, reason: "" });
});
