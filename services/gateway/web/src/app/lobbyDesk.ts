/** What one does before a table: find one, make one, look back. */

import type { Api } from "../edge/api";
import { ApiError } from "../edge/api";
import type { Session } from "../edge/session";
import { wallHolds } from "../fairness";
import { HistoryService } from "../gen/eastwind/history/v1/history_service_pb";
import {
  MatchmakingService,
  QueueState,
  type WatchQueueResponse,
} from "../gen/eastwind/matchmaking/v1/matchmaking_service_pb";
import { RatingsService } from "../gen/eastwind/ratings/v1/ratings_service_pb";
import { ScoringService } from "../gen/eastwind/scoring/v1/scoring_service_pb";
import { BotLevel, Speed } from "../gen/eastwind/type/v1/settings_pb";
import type { LevelName, SpeedName, Wish } from "../lobby/model";
import { atStep, replayOf } from "../replay/replay";
import { SPEED_NAMES } from "../state/present";
import { factsOf } from "../state/rulesets";
import { newId } from "./ids";
import type { AppState, Store } from "./state";

const LEVELS: Record<LevelName, BotLevel> = { easy: BotLevel.EASY, medium: BotLevel.MEDIUM, hard: BotLevel.HARD };
const SPEEDS: Record<SpeedName, Speed> = {
  bullet: Speed.BULLET,
  blitz: Speed.BLITZ,
  standard: Speed.STANDARD,
  relaxed: Speed.RELAXED,
  untimed: Speed.UNTIMED,
};
const LISTED_HANDS = 10;

/** Where invitation codes of own tables are kept, so that they can be shown again. */
const CODE = "eastwind.code.";

/** The ruleset that a newcomer finds chosen. */
const FIRST = "hkos-3-v1";

export class LobbyDesk {
  private queued: { readonly ruleset: string; readonly rated: boolean } | null = null;

  constructor(
    private readonly store: Store<AppState>,
    private readonly session: () => Session,
    private readonly api: Api,
    private readonly accountId: () => string,
    private readonly openTable: (tableId: string) => void,
    private readonly storage: Pick<Storage, "getItem" | "setItem">,
  ) {}

  /** Reads rulesets, rating, open tables and finished hands. */
  async refresh(): Promise<void> {
    const said = this.store.get().problem;
    await this.ask(async () => {
      if (this.store.get().rulesets.length === 0) {
        const { variants } = await this.api.call(ScoringService.method.listVariants, {});
        const rulesets = variants.map(({ id, name }) => ({ id, name }));
        this.store.set({ rulesets: rulesets.sort((a, b) => Number(b.id === FIRST) - Number(a.id === FIRST)) });
      }
      const accountId = this.accountId();
      const { rulesets } = this.store.get();
      const [tables, hands, seat, ...ratings] = await Promise.all([
        this.api.call(MatchmakingService.method.listTables, {}),
        this.api.call(HistoryService.method.listRecords, { accountId, pageSize: LISTED_HANDS }),
        this.api.call(MatchmakingService.method.getSeat, {}),
        ...rulesets.map(({ id }) =>
          this.api.call(RatingsService.method.getRatings, { accountIds: [accountId], ruleset: id }),
        ),
      ]);
      this.store.set({
        seatedAt: seat.tableId,
        ratings: new Map(
          ratings.flatMap(({ ratings: [mine] }, place) => {
            const ruleset = rulesets[place]?.id;
            if (!mine || ruleset === undefined) return [];
            return [[ruleset, { value: mine.rating, provisional: mine.provisional }] as const];
          }),
        ),
        tables: tables.tables.map(({ tableId, settings, players, freeSeats }) => ({
          id: tableId,
          name: settings?.name ?? "",
          ruleset: settings?.ruleset ?? "",
          speed: SPEED_NAMES[settings?.speed ?? Speed.UNSPECIFIED] ?? "standard",
          rated: settings?.rated ?? false,
          players: players.map(({ name }) => name),
          freeSeats,
        })),
        hands: hands.records.map((record) => {
          const own = record.names.indexOf(this.store.get().name);
          const winner = record.winner === undefined ? "" : (record.names[record.winner] ?? "");
          return {
            id: record.recordId,
            ruleset: record.ruleset,
            endedMs: Number(record.endedMs),
            names: record.names,
            change: record.changes[own] ?? 0,
            winner: record.winner === own && winner ? "You" : winner,
            rated: record.rated,
          };
        }),
      });
    });
    // What was said on the way to the lobby stays until the next thing is done.
    if (said && !this.store.get().problem) this.store.set({ problem: said });
  }

  quickPlay(ruleset: string, rated: boolean): void {
    this.queued = { ruleset, rated };
    const { rulesets, serverOffsetMs } = this.store.get();
    const name = rulesets.find(({ id }) => id === ruleset)?.name ?? ruleset;
    this.store.set({
      screen: "queue",
      problem: "",
      queue: { ruleset: name, waiting: 1, fillAtMs: 0, serverOffsetMs },
    });
    this.resume();
  }

  leaveQueue(): void {
    this.queued = null;
    this.session().send({ case: "leaveQueue", value: {} });
    this.store.set({ screen: "lobby", queue: null });
  }

  /** Forgets the queue: a table was found, or somebody else signs in. */
  stopQueueing(): void {
    this.queued = null;
  }

  /** After a reconnection: the ticket was kept alive by the socket that is gone. */
  resume(): void {
    if (this.queued) this.session().send({ case: "enterQueue", value: { request: this.queued } });
  }

  onQueue({ state, waiting, fillAtMs, tableId }: WatchQueueResponse): void {
    const { queue, serverOffsetMs } = this.store.get();
    if (state === QueueState.MATCHED) {
      this.queued = null;
      this.openTable(tableId);
    } else if (state === QueueState.LEFT) {
      if (this.queued) this.store.set({ screen: "lobby", queue: null });
      this.queued = null;
    } else if (queue) {
      this.store.set({ queue: { ...queue, waiting, fillAtMs: Number(fillAtMs), serverOffsetMs } });
    }
  }

  async playWithComputers(wish: Wish, level: LevelName): Promise<void> {
    await this.create(wish, "", true, LEVELS[level]);
  }

  async createTable(wish: Wish, name: string, isPrivate: boolean): Promise<void> {
    await this.create(wish, name, isPrivate, BotLevel.UNSPECIFIED);
  }

  async join(tableId: string, code: string): Promise<void> {
    const joined = await this.ask(() => this.api.call(MatchmakingService.method.joinTable, { tableId, code }));
    if (joined) this.openTable(joined.tableId);
  }

  codeOf(tableId: string): string {
    return this.storage.getItem(CODE + tableId) ?? "";
  }

  async openReplay(recordId: string): Promise<void> {
    const answer = await this.ask(() => this.api.call(HistoryService.method.getRecord, { recordId }));
    if (!answer?.record) return;
    const replay = replayOf(answer.record, answer.ratingChanges, this.accountId());
    this.store.set({ screen: "replay", replay });
    const last = replay.states.at(-1);
    const holds =
      last?.witness && globalThis.crypto?.subtle
        ? await wallHolds(replay.opened, {
            ...last.witness,
            draws: last.witness.draws ?? [],
            kongBox: factsOf(replay.opened.ruleset).kongBox,
            seat: last.view.viewer ?? null,
            nonce: null,
          })
        : null;
    const wall = holds === null ? "unavailable" : holds ? "verified" : "failed";
    const { replay: shown } = this.store.get();
    if (shown?.recordId !== recordId) return;
    const states = shown.states.map((state) => (state.wall === "checking" ? ({ ...state, wall } as const) : state));
    this.store.set({ replay: { ...shown, states } });
  }

  step(to: number): void {
    const { replay } = this.store.get();
    if (replay) this.store.set({ replay: atStep(replay, to) });
  }

  private async create(wish: Wish, name: string, isPrivate: boolean, fillWith: BotLevel): Promise<void> {
    const created = await this.ask(() =>
      this.api.call(MatchmakingService.method.createTable, {
        requestId: newId(),
        settings: { ruleset: wish.ruleset, speed: SPEEDS[wish.speed], rated: false, private: isPrivate, name },
        fillWith,
      }),
    );
    if (!created) return;
    if (created.code) this.storage.setItem(CODE + created.tableId, created.code);
    this.openTable(created.tableId);
  }

  /** Runs a request; a refusal is said in the lobby and gives null. */
  private async ask<T>(request: () => Promise<T>): Promise<T | null> {
    this.store.set({ busy: true, problem: "" });
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.store.set({ problem: error.message });
      return null;
    } finally {
      this.store.set({ busy: false });
    }
  }
}
