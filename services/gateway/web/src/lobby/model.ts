/** What the screens before a table show. */

export type SpeedName = "bullet" | "blitz" | "standard" | "relaxed" | "untimed";
export type LevelName = "easy" | "medium" | "hard";

export const SPEEDS: Readonly<Record<SpeedName, { readonly label: string; readonly clock: string }>> = {
  bullet: { label: "Bullet", clock: "2 s + 5 s" },
  blitz: { label: "Blitz", clock: "3 s + 10 s" },
  standard: { label: "Standard", clock: "5 s + 20 s" },
  relaxed: { label: "Relaxed", clock: "15 s + 60 s" },
  untimed: { label: "Untimed", clock: "no clock" },
};

export const LEVELS: Readonly<Record<LevelName, string>> = { easy: "Easy", medium: "Medium", hard: "Hard" };

export interface Ruleset {
  readonly id: string;
  readonly name: string;
}

export interface OpenTable {
  readonly id: string;
  readonly name: string;
  readonly ruleset: string;
  readonly speed: SpeedName;
  readonly rated: boolean;
  readonly players: readonly string[];
  readonly freeSeats: number;
}

export interface PlayedHand {
  readonly id: string;
  readonly ruleset: string;
  readonly endedMs: number;
  readonly names: readonly string[];
  readonly change: number;
  readonly winner: string;
  readonly rated: boolean;
}

export interface Wish {
  readonly ruleset: string;
  readonly speed: SpeedName;
}

export interface LobbyModel {
  readonly name: string;
  readonly guest: boolean;
  readonly rulesets: readonly Ruleset[];
  /** One's own, by ruleset. */
  readonly ratings: ReadonlyMap<string, { readonly value: number; readonly provisional: boolean }>;
  readonly tables: readonly OpenTable[];
  readonly hands: readonly PlayedHand[];
  /** The table where one has a seat; "" when there is none. */
  readonly seatedAt: string;
  /** A request is under way. */
  readonly busy: boolean;
  /** What went wrong and what to do; "" when nothing did. */
  readonly problem: string;
}

export interface QueueModel {
  readonly ruleset: string;
  readonly waiting: number;
  readonly fillAtMs: number;
  readonly serverOffsetMs: number;
}
