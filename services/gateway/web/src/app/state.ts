import type { ExplainHandResponse } from "../gen/eastwind/scoring/v1/scoring_service_pb";
import type { OpenTable, PlayedHand, QueueModel, Ruleset } from "../lobby/model";
import type { Look } from "../look";
import type { Connection, RatingModel, Switches } from "../model";
import type { Replay } from "../replay/replay";
import type { TableState } from "../state/table";

/** Everything that the page shows is in here. */
export interface AppState {
  readonly screen: "sign in" | "lobby" | "queue" | "table" | "replay";
  readonly connection: Connection;
  readonly latencyMs: number | null;
  readonly serverOffsetMs: number;
  readonly name: string;
  readonly guest: boolean;
  /** A request is under way. */
  readonly busy: boolean;
  readonly problem: string;
  readonly rulesets: readonly Ruleset[];
  /** One's own, by ruleset. */
  readonly ratings: ReadonlyMap<string, RatingModel>;
  readonly tables: readonly OpenTable[];
  readonly hands: readonly PlayedHand[];
  readonly queue: QueueModel | null;
  /** The table at which the account has a seat, shown or not. */
  readonly seatedAt: string;
  readonly table: TableState | null;
  readonly explained: { readonly key: string; readonly answer: ExplainHandResponse } | null;
  readonly handSwitches: Omit<Switches, "sort">;
  readonly replay: Replay | null;
  readonly look: Look;
}

export const NO_HAND_SWITCHES: AppState["handSwitches"] = { passClaims: false, takeWins: false };

export function initialState(look: Look): AppState {
  return {
    screen: "sign in",
    connection: "connecting",
    latencyMs: null,
    serverOffsetMs: 0,
    name: "",
    guest: false,
    busy: false,
    problem: "",
    rulesets: [],
    ratings: new Map(),
    tables: [],
    hands: [],
    queue: null,
    seatedAt: "",
    table: null,
    explained: null,
    handSwitches: NO_HAND_SWITCHES,
    replay: null,
    look,
  };
}

/** Holds a value and tells who listens that it has changed. */
export class Store<T> {
  private listeners = new Set<() => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(part: Partial<T>): void {
    this.value = { ...this.value, ...part };
    for (const listener of this.listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
