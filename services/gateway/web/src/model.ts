/** What the screen shows: plain values, seen from one seat. Times are milliseconds of the server's clock. */

import type { TileId } from "./tiles/notation";

/** Where a seat sits on the screen: 0 own (bottom), 1 the one who plays next (right), 2 opposite, 3 the one before (left). */
export type Place = 0 | 1 | 2 | 3;
export const PLACES: readonly Place[] = [0, 1, 2, 3];

/** 0 East, 1 South, 2 West, 3 North. */
export type Wind = 0 | 1 | 2 | 3;

export interface ClockModel {
  /** The whole base of this decision. */
  readonly baseMs: number;
  /** When the base is used up and the reserve begins to run. */
  readonly baseEndsAt: number;
  /** The reserve left when the base ends; 0 in claim windows. */
  readonly reserveMs: number;
}

export interface RatingModel {
  readonly value: number;
  readonly provisional: boolean;
}

export interface Discard {
  readonly tile: TileId;
  /** It carried an Original Call. */
  readonly called?: boolean;
  /** Claimed by another seat: the tile is gone, its place stays. */
  readonly claimed: boolean;
}

export type MeldKind = "chow" | "pung" | "concealed kong" | "claimed kong" | "added kong";

export interface MeldModel {
  readonly kind: MeldKind;
  readonly tiles: readonly TileId[];
  /** The tile that came from another seat, and where that seat sits; null for a concealed kong. */
  readonly claimed: { readonly tile: TileId; readonly from: Place } | null;
  /** The tile that made a pung a kong. */
  readonly added: TileId | null;
}

export type Presence = "present" | "away" | "computer" | "empty";

export interface SeatModel {
  readonly place: Place;
  readonly wind: Wind;
  readonly name: string;
  readonly presence: Presence;
  /** The table waits for this seat. */
  readonly deciding: boolean;
  readonly rating: RatingModel | null;
  readonly points: number;
  readonly clock: ClockModel | null;
  /** The concealed tiles, or how many there are while they are hidden; the drawn one is not among them. */
  readonly holding: readonly TileId[] | number;
  /** The tile just drawn; "hidden" when this seat may not see it. */
  readonly drawn: TileId | "hidden" | null;
  readonly river: readonly Discard[];
  readonly melds: readonly MeldModel[];
  readonly bonus: readonly TileId[];
  /** Has declared an Original Call: its tiles do not change any more. */
  readonly called?: boolean;
}

export type Action =
  | { readonly type: "win"; readonly worth: string }
  /** `opening`: goes on without a kong before the first discard. */
  | { readonly type: "pass"; readonly opening?: boolean }
  | { readonly type: "chow"; readonly tiles: readonly TileId[] }
  | { readonly type: "pung"; readonly tiles: readonly TileId[] }
  | { readonly type: "kong"; readonly tiles: readonly TileId[]; readonly concealed: boolean }
  | { readonly type: "discard"; readonly tile: TileId };

/** An action other than a discard, as a button: `id` is stable while the decision is open. */
export interface Choice {
  readonly id: string;
  readonly action: Exclude<Action, { type: "discard" }>;
}

export interface Prompt {
  /** Names the decision; two prompts with the same id are the same question. */
  readonly id: string;
  readonly choices: readonly Choice[];
  /** The tiles that may be discarded now. */
  readonly discards: readonly TileId[];
  /** Those of them that may carry an Original Call. */
  readonly calls: readonly TileId[];
  /** An answer is on its way: nothing more can be sent for this prompt. */
  readonly answered: boolean;
}

export interface WorthModel {
  readonly patterns: readonly { readonly name: string; readonly value: string }[];
  /** "3 of 3 faan" */
  readonly total: string;
  readonly mayWin: boolean;
  /** Why it may not win yet; empty when it may. */
  readonly reason: string;
}

export interface WaitModel {
  readonly kind: number;
  readonly unseen: number;
  /** A win on it would be below the minimum. */
  readonly tooLow: boolean;
}

export interface LogLine {
  readonly id: string;
  readonly who: string;
  readonly what: string;
}

export type HandSwitch = "sort" | "passClaims" | "takeWins";
export type Switches = Readonly<Record<HandSwitch, boolean>>;

export interface ItemModel {
  readonly name: string;
  readonly value: string;
}

export interface WinModel {
  readonly who: string;
  readonly tiles: readonly TileId[];
  readonly winning: TileId;
  readonly melds: readonly MeldModel[];
  readonly bonus: readonly TileId[];
  readonly patterns: readonly ItemModel[];
  /** "3 faan", "48 × 2³ = 384 points" */
  readonly total: string;
  /** "8 points from Tomas" */
  readonly payment: string;
}

/** The hand of a seat that did not win, where it is counted as well. */
export interface OtherHandModel {
  readonly place: Place;
  readonly wind: Wind;
  readonly who: string;
  readonly tiles: readonly TileId[];
  readonly melds: readonly MeldModel[];
  readonly bonus: readonly TileId[];
  readonly patterns: readonly ItemModel[];
  readonly total: string;
}

/** One payment where several are made for one hand. */
export interface PaymentModel {
  readonly from: string;
  readonly to: string;
  /** "46 − 2, doubled for East" */
  readonly how: string;
  readonly amount: number;
}

/** One finished hand of a match; changes by place. */
export interface SheetLine {
  readonly hand: number;
  readonly prevailing: Wind;
  readonly dealer: Place;
  readonly winner: Place | null;
  readonly changes: readonly number[];
}

/** A match so far; names and totals by place. */
export interface MatchModel {
  /** How often the deal has passed, and with which time the match ends. */
  readonly changesOfDealer: number;
  readonly lastChange: number;
  readonly startingPoints: number;
  readonly names: readonly string[];
  readonly totals: readonly number[];
  readonly lines: readonly SheetLine[];
  /** Earlier hands are still being asked for. */
  readonly missing: boolean;
}

export interface StandingModel {
  readonly rank: number;
  readonly name: string;
  readonly points: number;
  readonly own: boolean;
  readonly rating: SettledSeat["rating"];
}

export interface SettledSeat {
  readonly place: Place;
  readonly wind: Wind;
  readonly name: string;
  readonly change: number;
  readonly pointsAfter: number;
  /** null where nothing is rated; `after` null while the rating is on its way. */
  readonly rating: { readonly before: RatingModel; readonly after: RatingModel | null } | null;
  /** null when nobody is asked. */
  readonly ready: boolean | null;
}

export type WallCheck = "checking" | "verified" | "failed" | "unavailable";

export interface SettlementModel {
  readonly id: string;
  readonly sentence: string;
  readonly wins: readonly WinModel[];
  /** The hands of the others, where they count; none otherwise. */
  readonly others: readonly OtherHandModel[];
  /** Every single payment, where the others pay each other as well; none otherwise. */
  readonly payments: readonly PaymentModel[];
  readonly seats: readonly SettledSeat[];
  readonly wall: WallCheck;
  /** Until when the seats may say that they are ready; null at untimed tables and when no hand follows. */
  readonly readyBy: number | null;
  /** The next hand begins by itself when that time is over. */
  readonly readyByItself: boolean;
  /** How the match ended, once it has. */
  readonly standings: readonly StandingModel[] | null;
  /** No further hand follows. */
  readonly over: boolean;
  /** Why none follows; "" while one may. */
  readonly note: string;
}

/** Before the first hand, or while a seat is free. */
export interface GatheringModel {
  readonly id: string;
  readonly seats: readonly { readonly place: Place; readonly name: string; readonly ready: boolean }[];
  /** The invitation code, when this browser knows it. */
  readonly code: string;
  /** Whether the reader has said ready; null when nobody is asked. */
  readonly ready: boolean | null;
  readonly readyBy: number | null;
  readonly mayFill: boolean;
}

export type Connection = "live" | "connecting" | "lost" | "replaced";

export interface TableModel {
  readonly id: string;
  /** "Hong Kong Old Style", "rated", "Standard 5 s + 20 s" */
  readonly title: readonly string[];
  readonly connection: Connection;
  /** Round trip in milliseconds, when known. */
  readonly latencyMs: number | null;
  /** Server time minus local time. */
  readonly serverOffsetMs: number;
  readonly prevailing: Wind;
  readonly hand: number;
  readonly wallCount: number;
  /** Tiles left for kongs; null without a kong box. */
  readonly kongBoxCount: number | null;
  /** The reader has no seat and looks on. */
  readonly watching: boolean;
  /** Null where every hand stands for itself. */
  readonly match: MatchModel | null;
  readonly seats: readonly [SeatModel, SeatModel, SeatModel, SeatModel];
  /** Whose discard may be claimed or was the last one. */
  readonly lastDiscard: { readonly place: Place; readonly index: number } | null;
  readonly prompt: Prompt | null;
  readonly worth: WorthModel | null;
  readonly waits: readonly WaitModel[];
  readonly log: readonly LogLine[];
  readonly switches: Switches;
  readonly settlement: SettlementModel | null;
  readonly gathering: GatheringModel | null;
  /** What went wrong and what to do; "" when nothing did. */
  readonly notice: string;
}
