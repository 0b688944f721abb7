import { create } from "@bufbuild/protobuf";
import { DecisionKind } from "../gen/eastwind/table/v1/event_pb";
import type { DecisionView, TableView } from "../gen/eastwind/table/v1/view_pb";
import { type Action, ActionSchema, ActionType } from "../gen/eastwind/type/v1/action_pb";
import type { Choice, Prompt } from "../model";
import { kindOf, runRanks, type TileId } from "../tiles/notation";
import { factsOf } from "./rulesets";
import { worthWords } from "./score";
import type { TableState } from "./table";

type DiscardType = ActionType.DISCARD | ActionType.ORIGINAL_CALL;

/** A choice keeps its place in the list of options as its id. */
function choiceId(index: number): string {
  return `option-${index}`;
}

function choiceAction(view: TableView, action: Action, worth: string): Choice["action"] | null {
  const withDiscard = view.lastDiscard === undefined ? action.tiles : [...action.tiles, view.lastDiscard];
  switch (action.type) {
    case ActionType.WIN:
      return { type: "win", worth };
    case ActionType.PASS:
      return { type: "pass", opening: view.decision?.kind === DecisionKind.OPENING_KONG };
    case ActionType.CHOW:
      return { type: "chow", tiles: withDiscard };
    case ActionType.PUNG:
      return { type: "pung", tiles: withDiscard };
    case ActionType.CLAIMED_KONG:
      return { type: "kong", tiles: withDiscard, concealed: false };
    case ActionType.ADDED_KONG:
      return { type: "kong", tiles: action.tiles, concealed: false };
    case ActionType.CONCEALED_KONG:
      return { type: "kong", tiles: action.tiles, concealed: true };
    default:
      return null;
  }
}

/** Two choices that a player could not tell apart are one. */
function looks({ action }: Choice): string {
  if (action.type === "chow") return `chow ${runRanks(action.tiles.map(kindOf))}`;
  if (action.type === "kong") return `kong ${action.concealed} ${action.tiles[0] && kindOf(action.tiles[0])}`;
  return action.type;
}

/** What the viewer is asked, if anything. */
export function promptOf(state: TableState): Prompt | null {
  const { decision } = state.view;
  if (!decision || (decision.options.length === 0 && !state.pending)) return null;
  if (decision.seat !== state.view.viewer) return null;
  const seen = new Set<string>();
  const choices: Choice[] = [];
  decision.options.forEach(({ action, score }, index) => {
    if (!action) return;
    const told = choiceAction(
      state.view,
      action,
      score ? worthWords(score, factsOf(state.view.settings?.ruleset).unit) : "",
    );
    if (!told) return;
    const choice = { id: choiceId(index), action: told };
    if (seen.has(looks(choice))) return;
    seen.add(looks(choice));
    choices.push(choice);
  });
  return {
    id: `${state.view.hand}.${decision.decision}`,
    choices,
    discards: discardsOf(state.view, ActionType.DISCARD),
    calls: discardsOf(state.view, ActionType.ORIGINAL_CALL),
    answered: state.pending !== null,
  };
}

/** The own tiles that may be discarded so: of equal tiles only one is offered, and each may stand for it. */
function discardsOf({ decision, seats, viewer }: TableView, type: DiscardType): readonly TileId[] {
  const offered = (decision?.options ?? []).flatMap(({ action }) =>
    action?.type === type ? action.tiles.slice(0, 1) : [],
  );
  const own = viewer === undefined ? undefined : seats[viewer];
  if (!own || own.originalCall) return offered;
  const kinds = new Set(offered.map(kindOf));
  return own.tiles.filter((tile) => kinds.has(kindOf(tile)));
}

/** The action behind a choice; null when the decision is not open any more. */
export function actionOf(decision: DecisionView | undefined, id: string): Action | null {
  const index = decision?.options.findIndex((_, each) => choiceId(each) === id) ?? -1;
  return decision?.options[index]?.action ?? null;
}

/** The discard of an own tile, with an Original Call if `call`; null when it may not be discarded so now. */
export function discardOf(view: TableView, tile: TileId, call = false): Action | null {
  const type = call ? ActionType.ORIGINAL_CALL : ActionType.DISCARD;
  return discardsOf(view, type).includes(tile) ? create(ActionSchema, { type, tiles: [tile] }) : null;
}
