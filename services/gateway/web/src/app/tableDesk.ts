/** The table that is watched: frames in, commands out. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Api } from "../edge/api";
import { ApiError, reasonWords } from "../edge/api";
import type { Session } from "../edge/session";
import { canSeal, makeNonce, seal, wallHolds } from "../fairness";
import type { CommandAnswer, RatingsChanged } from "../gen/eastwind/edge/v1/frames_pb";
import { HistoryService } from "../gen/eastwind/history/v1/history_service_pb";
import { MatchmakingService } from "../gen/eastwind/matchmaking/v1/matchmaking_service_pb";
import { RatingsService } from "../gen/eastwind/ratings/v1/ratings_service_pb";
import { ScoringService } from "../gen/eastwind/scoring/v1/scoring_service_pb";
import { DecisionKind } from "../gen/eastwind/table/v1/event_pb";
import { TableCommandSchema } from "../gen/eastwind/table/v1/table_service_pb";
import { TablePhase, type TableUpdate, type TableView } from "../gen/eastwind/table/v1/view_pb";
import { type Action, ActionSchema, ActionType } from "../gen/eastwind/type/v1/action_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import { BotLevel } from "../gen/eastwind/type/v1/settings_pb";
import type { NonceStore } from "../nonces";
import type { Sounds } from "../sound";
import { question, questionKey } from "../state/explain";
import { actionOf, discardOf, promptOf } from "../state/prompt";
import { factsOf } from "../state/rulesets";
import { isComputer } from "../state/seats";
import { finishedHands, withHand } from "../state/sheet";
import { afterRatings, afterRefusal, afterUpdate, comingHand, GAP, type TableState, withPending } from "../state/table";
import type { TileId } from "../tiles/notation";
import { newId } from "./ids";
import { type AppState, NO_HAND_SWITCHES, type Store } from "./state";

type Command = MessageInitShape<typeof TableCommandSchema>["command"];

/** The table lives on, but not where it was. */
const MOVED: ReadonlySet<Reason> = new Set([Reason.NOT_OWNER, Reason.GOING_AWAY, Reason.UNAVAILABLE, Reason.DRAINING]);
const LOST: ReadonlySet<Reason> = new Set([
  Reason.TABLE_UNKNOWN,
  Reason.TABLE_CLOSED,
  Reason.WRONG_CODE,
  Reason.PERMISSION_DENIED,
  Reason.EXPIRED,
]);
const REWATCH_MS = 500;
const SHEET_PAGE = 100;

/** What to say when the viewer's own seat was given up; null when it was not. */
function lostSeat(view: TableView, { events }: TableUpdate): string | null {
  for (const { event } of events) {
    if (event.case !== "seatReleased" || event.value.seat !== view.viewer) continue;
    return event.value.reason === Reason.NOT_READY ? "You were not ready in time, so your seat was given up." : "";
  }
  return null;
}

export class TableDesk {
  private watched = "";
  private committingFor = "";
  private explainingKey = "";
  private ratedTable = "";
  private sheetKey = "";
  private rewatch: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly store: Store<AppState>,
    private readonly session: () => Session,
    private readonly api: Api,
    private readonly nonces: NonceStore,
    private readonly sounds: Sounds,
  ) {}

  /** Shows a table and keeps watching it over every reconnection. */
  watch(tableId: string): void {
    if (this.watched !== tableId) {
      this.watched = tableId;
      this.nonces.keepOnly(tableId);
      this.store.set({ table: null, explained: null, handSwitches: NO_HAND_SWITCHES });
    }
    this.store.set({ screen: "table", problem: "", queue: null });
    this.resume();
  }

  unwatch(): void {
    if (this.watched) this.session().send({ case: "unwatchTable", value: { tableId: this.watched } });
    clearTimeout(this.rewatch);
    this.watched = "";
    this.store.set({ table: null, explained: null });
  }

  get tableId(): string {
    return this.watched;
  }

  /** After a (re)connection: asks for what was missed, and sends again what was not answered. */
  resume(): void {
    if (!this.watched) return;
    const { table } = this.store.get();
    const have = table?.view.tableId === this.watched ? { lastSequence: table.sequence } : {};
    this.session().send({ case: "watchTable", value: { tableId: this.watched, ...have } });
    if (table?.pending) {
      const { commandId, decision, action } = table.pending;
      this.command(commandId, { case: "choose", value: { decision, action } });
    }
  }

  onUpdate(update: TableUpdate): void {
    if (update.tableId !== this.watched) return;
    const before = this.store.get().table;
    const after = afterUpdate(before, update);
    if (after === GAP) {
      this.session().send({ case: "resyncTable", value: { tableId: this.watched } });
      return;
    }
    const gone = lostSeat(after.view, update);
    if (gone !== null) {
      this.unwatch();
      this.store.set({ screen: "lobby", seatedAt: "", problem: gone });
      return;
    }
    const newHand = before !== null && before.view.hand !== after.view.hand;
    this.store.set({
      table: after,
      ...(newHand ? { handSwitches: NO_HAND_SWITCHES, explained: null } : {}),
    });
    this.sounds.update(before, after, update);
    if (after.wall === "checking" && before?.wall !== "checking") void this.checkWall(after);
    void this.commitIfNeeded(after.view);
    void this.explain(after.view);
    void this.readRatings(after.view);
    void this.readSheet(after);
    this.actBySwitch(after);
  }

  onAnswer({ tableId, commandId, reason, detail }: CommandAnswer): void {
    const { table } = this.store.get();
    if (tableId !== this.watched || !table || reason === Reason.UNSPECIFIED) return;
    this.store.set({ table: afterRefusal(table, commandId, reasonWords(reason, detail)) });
  }

  onRatings(changed: RatingsChanged): void {
    const { table } = this.store.get();
    if (changed.tableId === this.watched && table) this.store.set({ table: afterRatings(table, changed) });
  }

  /** The server does not serve this table to us any more: another worker has it, or it is gone. */
  onEnded(tableId: string, reason: Reason): void {
    if (tableId !== this.watched) return;
    if (MOVED.has(reason)) {
      clearTimeout(this.rewatch);
      this.rewatch = setTimeout(() => this.resume(), REWATCH_MS);
      return;
    }
    const { table } = this.store.get();
    if (table?.view.phase === TablePhase.CLOSED) return;
    this.unwatch();
    this.store.set({ screen: "lobby", problem: reasonWords(reason, "") });
  }

  /** Something about the table did not work: it is gone for us, not there at the moment, or only this once. */
  onProblem(tableId: string, reason: Reason, detail: string): void {
    if (tableId !== this.watched) return;
    if (MOVED.has(reason) || LOST.has(reason)) return this.onEnded(tableId, reason);
    const { table } = this.store.get();
    if (table) this.store.set({ table: { ...table, notice: reasonWords(reason, detail) } });
  }

  choose(promptId: string, choiceId: string): void {
    const { table } = this.store.get();
    if (table && promptOf(table)?.id === promptId) this.send(table, actionOf(table.view.decision, choiceId));
  }

  /** Discards, with an Original Call if `call`. */
  discard(promptId: string, tile: TileId, call: boolean): void {
    const { table } = this.store.get();
    if (table && promptOf(table)?.id === promptId) this.send(table, discardOf(table.view, tile, call));
  }

  async ready(): Promise<void> {
    const { table } = this.store.get();
    if (!table || table.view.phase !== TablePhase.READY || table.readySent !== null) return;
    const commandId = newId();
    this.store.set({ table: { ...table, readySent: commandId } });
    const { view } = table;
    const hand = comingHand(view);
    const own = view.viewer === undefined ? undefined : view.seats[view.viewer];
    const nonce = own ? this.nonces.sealed(view.tableId, own.nonceCommitment) : null;
    if (nonce) this.nonces.putRevealed(view.tableId, hand, nonce);
    const nextCommitment = await this.sealNew(view.tableId);
    const sent = this.command(commandId, {
      case: "ready",
      value: { hand, nonce: nonce ?? new Uint8Array(), nextCommitment },
    });
    const latest = this.store.get().table;
    if (!sent && latest) {
      this.store.set({ table: afterRefusal(latest, commandId, "Not connected. Say ready again in a moment.") });
    }
  }

  async fill(): Promise<void> {
    await this.ask(() =>
      this.api.call(MatchmakingService.method.fillWithBots, { tableId: this.watched, level: BotLevel.MEDIUM }),
    );
  }

  /** Leaves the seat. During a hand the seat stays one's own until the hand is over. */
  async leave(): Promise<void> {
    const tableId = this.watched;
    const { table } = this.store.get();
    const closed = table?.view.phase === TablePhase.CLOSED;
    const seated = table?.view.viewer !== undefined && !closed;
    let kept = false;
    if (seated) {
      const answer = await this.ask(() => this.api.call(MatchmakingService.method.leaveTable, { tableId }));
      if (answer === null) return;
      kept = answer.pending !== Reason.UNSPECIFIED;
    }
    this.unwatch();
    this.store.set({
      screen: "lobby",
      seatedAt: kept ? tableId : "",
      problem: kept ? "You leave after this hand. Your seat plays on until then; you can return to it." : "",
    });
  }

  /** A switch was turned on while a prompt is open: it counts at once. */
  switched(): void {
    const { table } = this.store.get();
    if (table) this.actBySwitch(table);
  }

  private send(table: TableState, action: Action | null): void {
    const { decision } = table.view;
    if (!decision || !action || table.pending) return;
    const pending = { commandId: newId(), decision: decision.decision, action };
    const sent = this.command(pending.commandId, { case: "choose", value: { decision: pending.decision, action } });
    const latest = sent ? withPending(table, pending) : { ...table, notice: "Not connected. Nothing was sent." };
    this.store.set({ table: latest });
  }

  private command(commandId: string, command: Command): boolean {
    const value = create(TableCommandSchema, { commandId, command } as MessageInitShape<typeof TableCommandSchema>);
    return this.session().send({ case: "command", value: { tableId: this.watched, command: value } });
  }

  private actBySwitch(table: TableState): void {
    const { takeWins, passClaims } = this.store.get().handSwitches;
    const options = table.view.decision?.options ?? [];
    if (table.pending || options.length === 0) return;
    // Going on without a kong before the first discard is no pass of a claim.
    const opening = table.view.decision?.kind === DecisionKind.OPENING_KONG;
    const win = options.find(({ action }) => action?.type === ActionType.WIN)?.action;
    if (win) {
      if (takeWins) this.send(table, win);
      return;
    }
    const pass = options.find(({ action }) => action?.type === ActionType.PASS)?.action;
    if (pass && passClaims && !opening) this.send(table, create(ActionSchema, { type: ActionType.PASS }));
  }

  private async sealNew(tableId: string): Promise<Uint8Array> {
    if (!canSeal()) return new Uint8Array();
    const nonce = makeNonce();
    const commitment = await seal(nonce);
    this.nonces.putSealed(tableId, commitment, nonce);
    return commitment;
  }

  /** Between hands a seat without a seal gives one, so that its number is part of the next wall. */
  private async commitIfNeeded(view: TableView): Promise<void> {
    const own = view.viewer === undefined ? undefined : view.seats[view.viewer];
    const between = view.phase === TablePhase.WAITING || view.phase === TablePhase.READY;
    if (!own || !between || own.ready || own.nonceCommitment.length > 0 || !canSeal()) return;
    // Once a person has revealed, no new number is sealed for this hand.
    if (view.seats.some((seat) => seat.ready && seat.player && seat.player.botLevel === 0)) return;
    const hand = comingHand(view);
    const key = `${view.tableId}/${hand}/${view.phase}`;
    if (this.committingFor === key) return;
    this.committingFor = key;
    const commitment = await this.sealNew(view.tableId);
    this.command(newId(), { case: "commitNonce", value: { hand, commitment } });
  }

  private async checkWall({ view, witness }: TableState): Promise<void> {
    const opened = view.settled?.wall;
    let wall: TableState["wall"] = "unavailable";
    if (opened && witness && view.settings && canSeal()) {
      const holds = await wallHolds(
        { ...opened, tableId: view.tableId, ruleset: view.settings.ruleset },
        {
          ...witness,
          draws: witness.draws ?? [],
          kongBox: factsOf(view.settings.ruleset).kongBox,
          seat: view.viewer ?? null,
          nonce: this.nonces.revealed(view.tableId, witness.hand),
        },
      );
      wall = holds ? "verified" : "failed";
    }
    const latest = this.store.get().table;
    if (latest?.wall === "checking") this.store.set({ table: { ...latest, wall } });
  }

  private async explain(view: TableView): Promise<void> {
    const asked = question(view);
    if (!asked) return;
    const key = questionKey(asked);
    if (key === this.explainingKey) return;
    this.explainingKey = key;
    try {
      const answer = await this.api.call(ScoringService.method.explainHand, asked);
      if (key === this.explainingKey) this.store.set({ explained: { key, answer } });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The panel says nothing rather than something old; the next change of the hand asks again.
      if (key === this.explainingKey) this.store.set({ explained: null });
    }
  }

  /** Reads the ratings of who sits here, once for every set of players. */
  private async readRatings(view: TableView): Promise<void> {
    const accountIds = view.seats
      .filter((seat) => seat.player && !isComputer(seat))
      .map((seat) => seat.player?.accountId ?? "");
    const key = `${view.tableId}/${accountIds.join()}`;
    if (accountIds.length === 0 || key === this.ratedTable) return;
    this.ratedTable = key;
    const answer = await this.ask(() =>
      this.api.call(RatingsService.method.getRatings, { accountIds, ruleset: view.settings?.ruleset ?? "" }),
    );
    const { table } = this.store.get();
    if (!answer || !table) return;
    const ratings = new Map(table.ratings);
    for (const { accountId, rating, provisional } of answer.ratings) {
      ratings.set(accountId, { value: rating, provisional });
    }
    this.store.set({ table: { ...table, ratings } });
  }

  /** Reads the hands of the match that were played before one came, or came back; they are written behind the game. */
  private async readSheet({ view, sheet }: TableState): Promise<void> {
    const finished = finishedHands(view);
    const key = `${view.tableId}/${finished}`;
    if (sheet.length >= finished || key === this.sheetKey) return;
    this.sheetKey = key;
    let pageToken = "";
    do {
      const question = { tableId: view.tableId, pageSize: SHEET_PAGE, pageToken };
      const answer = await this.ask(() => this.api.call(HistoryService.method.listRecords, question));
      const { table } = this.store.get();
      if (!answer || table?.view.tableId !== view.tableId) return;
      const read = answer.records.map(({ hand, winner, changes }) => ({ hand, winner: winner ?? null, changes }));
      this.store.set({ table: { ...table, sheet: read.reduce(withHand, table.sheet) } });
      pageToken = answer.nextPageToken;
    } while (pageToken);
  }

  /** Runs a request; a refusal is said at the table and gives null. */
  private async ask<T>(request: () => Promise<T>): Promise<T | null> {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { table } = this.store.get();
      if (table) this.store.set({ table: { ...table, notice: error.message } });
      return null;
    }
  }
}
