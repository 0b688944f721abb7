/** Puts the parts together: one account, one socket, a desk for the lobby and one for the table. */

import { Account, type Signed } from "../edge/account";
import { Api, ApiError, reasonWords } from "../edge/api";
import { backoff } from "../edge/backoff";
import { browserSurround, Session, type Surround } from "../edge/session";
import type { ServerFrame, Welcome } from "../gen/eastwind/edge/v1/frames_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import { applyLook, type Look, writeLook } from "../look";
import type { HandSwitch } from "../model";
import { NonceStore } from "../nonces";
import { Sounds } from "../sound";
import { LobbyDesk } from "./lobbyDesk";
import { type AppState, initialState, Store } from "./state";
import { TableDesk } from "./tableDesk";

export class App {
  readonly store: Store<AppState>;
  readonly lobby: LobbyDesk;
  readonly table: TableDesk;
  private readonly account: Account;
  private readonly session: Session;

  constructor(look: Look, storage: Storage, around?: Surround) {
    this.store = new Store(initialState(look));
    this.account = new Account(storage);
    const token = () => this.account.token();
    const api = new Api(token);
    this.session = new Session(
      {
        onConnection: (connection) => this.store.set({ connection }),
        onWelcome: (welcome) => this.onWelcome(welcome),
        onFrame: (frame) => this.onFrame(frame),
        onSignedOut: () => this.onSignedOut(),
        onMeasured: (latencyMs, serverOffsetMs) => this.store.set({ latencyMs, serverOffsetMs }),
      },
      around ?? browserSurround(token),
    );
    const sounds = new Sounds(() => this.store.get().look.sound);
    this.table = new TableDesk(this.store, () => this.session, api, new NonceStore(storage), sounds);
    this.lobby = new LobbyDesk(
      this.store,
      () => this.session,
      api,
      () => this.account.signed?.accountId ?? "",
      (tableId) => this.table.watch(tableId),
      storage,
    );
  }

  /** Goes on where this browser left off: at the table, in the lobby, or at the sign-in. */
  start(): void {
    const { signed } = this.account;
    if (signed) this.enter(signed);
  }

  playAsGuest(name: string): Promise<void> {
    return this.sign(() => this.account.playAsGuest(name));
  }

  logIn(name: string, password: string): Promise<void> {
    return this.sign(() => this.account.logIn(name, password));
  }

  register(name: string, password: string): Promise<void> {
    return this.sign(() => this.account.register(name, password));
  }

  async logOut(): Promise<void> {
    this.session.stop();
    this.lobby.stopQueueing();
    this.table.unwatch();
    this.store.set({ ...initialState(this.store.get().look) });
    try {
      await this.account.logOut();
    } catch (error) {
      // The session is forgotten here; the server lets it run out.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Takes the connection back from another window. */
  takeBack(): void {
    this.session.start();
  }

  async leaveTable(): Promise<void> {
    await this.table.leave();
    if (this.store.get().screen === "lobby") await this.lobby.refresh();
  }

  /** How one's tiles are sorted stays with the browser; the others are for this hand. */
  setSwitch(name: HandSwitch, on: boolean): void {
    const { look, handSwitches } = this.store.get();
    if (name === "sort") return this.setLook({ ...look, sort: on });
    this.store.set({ handSwitches: { ...handSwitches, [name]: on } });
    this.table.switched();
  }

  closeReplay(): void {
    this.store.set({ replay: null, screen: "lobby" });
    void this.lobby.refresh();
  }

  setLook(look: Look): void {
    writeLook(localStorage, look);
    this.store.set({ look });
    void this.showLook();
  }

  /** Makes the page look as chosen; tiles that cannot be loaded are asked for again until they are there. */
  async showLook(): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await applyLook(this.store.get().look);
        return;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        this.store.set({ problem: error.message });
        await new Promise((resolve) => setTimeout(resolve, backoff(tries, Math.random())));
      }
    }
  }

  private async sign(way: () => Promise<Signed>): Promise<void> {
    this.store.set({ busy: true, problem: "" });
    try {
      const signed = await way();
      this.session.stop();
      this.enter(signed);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.store.set({ problem: error.message });
    } finally {
      this.store.set({ busy: false });
    }
  }

  private enter({ name, guest }: Signed): void {
    this.store.set({ screen: "lobby", name, guest });
    this.session.start();
    void this.lobby.refresh();
  }

  private onWelcome({ name, tableId, serverTimeMs }: Welcome): void {
    this.store.set({ name, seatedAt: tableId, serverOffsetMs: Number(serverTimeMs) - Date.now() });
    if (this.table.tableId) return this.table.resume();
    if (tableId && this.store.get().screen !== "replay") {
      this.lobby.stopQueueing();
      return this.table.watch(tableId);
    }
    this.lobby.resume();
  }

  private onFrame(frame: ServerFrame["frame"]): void {
    switch (frame.case) {
      case "table":
        return this.table.onUpdate(frame.value);
      case "answer":
        return this.table.onAnswer(frame.value);
      case "ratings":
        return this.table.onRatings(frame.value);
      case "queue":
        return this.lobby.onQueue(frame.value);
      case "tableEnded":
        return this.table.onEnded(frame.value.tableId, frame.value.reason);
      case "problem": {
        const { tableId, reason, detail } = frame.value;
        if (tableId) return this.table.onProblem(tableId, reason, detail);
        this.store.set({ problem: reasonWords(reason, detail) });
        return;
      }
    }
  }

  private onSignedOut(): void {
    this.account.forget();
    this.table.unwatch();
    this.store.set({ ...initialState(this.store.get().look), problem: reasonWords(Reason.UNAUTHENTICATED, "") });
  }
}
