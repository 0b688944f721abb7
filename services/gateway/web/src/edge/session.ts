/** The one socket to the server: opened, watched, and opened again without an end (C104). */

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { offsetOf } from "../clock";
import {
  type ClientFrame,
  ClientFrameSchema,
  type Goodbye,
  type ServerFrame,
  ServerFrameSchema,
  type Welcome,
} from "../gen/eastwind/edge/v1/frames_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import type { Connection } from "../model";
import { backoff } from "./backoff";

export const SUBPROTOCOL = "eastwind.v1.proto";
const CLIENT = "web";
const PING_MS = 10_000;
/** A ping that is not answered within this time means that the socket is dead. */
const STALE_MS = 6_000;
const CONNECT_MS = 10_000;
/** A connection that lasted this long was a good one: the next tries begin quickly again. */
const STEADY_MS = 10_000;

export interface SessionEvents {
  onConnection: (connection: Connection) => void;
  onWelcome: (welcome: Welcome) => void;
  onFrame: (frame: ServerFrame["frame"]) => void;
  /** The session is not accepted: sign in again. */
  onSignedOut: () => void;
  onMeasured: (latencyMs: number, serverOffsetMs: number) => void;
}

/** What the session needs from its surroundings; a test brings its own. */
export interface Surround {
  readonly open: () => WebSocket;
  readonly token: () => Promise<string | null>;
  readonly now: () => number;
  readonly random: () => number;
  readonly page: Pick<Window, "addEventListener" | "removeEventListener">;
  readonly document: Pick<Document, "addEventListener" | "removeEventListener" | "visibilityState">;
}

export function browserSurround(token: () => Promise<string | null>): Surround {
  return {
    open: () => new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`, [SUBPROTOCOL]),
    token,
    now: () => Date.now(),
    random: Math.random,
    page: window,
    document,
  };
}

export class Session {
  private socket: WebSocket | null = null;
  private welcomed = false;
  private stopped = true;
  private tries = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setTimeout> | undefined;
  private staleTimer: ReturnType<typeof setTimeout> | undefined;
  private pingId = 0n;
  private pingSentAt = 0;
  private retryAtLeast = 0;
  private refusals = 0;
  private tokenSent = "";
  private welcomedAt = 0;
  /** Changes with every socket, so that what belongs to an older one is recognised. */
  private generation = 0;

  constructor(
    private readonly events: SessionEvents,
    private readonly around: Surround,
  ) {}

  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.tries = 0;
    this.around.page.addEventListener("online", this.wake);
    this.around.page.addEventListener("offline", this.cutOff);
    this.around.document.addEventListener("visibilitychange", this.wake);
    void this.connect();
  }

  stop(): void {
    this.stopped = true;
    this.around.page.removeEventListener("online", this.wake);
    this.around.page.removeEventListener("offline", this.cutOff);
    this.around.document.removeEventListener("visibilitychange", this.wake);
    this.drop();
  }

  get live(): boolean {
    return this.welcomed;
  }

  /** Sends a frame; false when there is no connection to send it on. */
  send(frame: MessageInitShape<typeof ClientFrameSchema>["frame"]): boolean {
    if (!this.welcomed || this.socket?.readyState !== WebSocket.OPEN) return false;
    this.write(create(ClientFrameSchema, { frame } as MessageInitShape<typeof ClientFrameSchema>));
    return true;
  }

  /** The network is back or the page is seen again: try at once, or find out whether the socket still lives. */
  private readonly wake = (): void => {
    if (this.stopped || this.around.document.visibilityState === "hidden") return;
    if (this.welcomed) this.ping();
    else if (this.retryTimer !== undefined) {
      clearTimeout(this.retryTimer);
      this.retryTimer = undefined;
      void this.connect();
    }
  };

  /** The browser knows that it has no network: no need to wait until the socket is found dead. */
  private readonly cutOff = (): void => {
    if (this.socket) this.lost();
  };

  private async connect(): Promise<void> {
    const generation = ++this.generation;
    this.retryTimer = undefined;
    this.events.onConnection("connecting");
    let token: string | null;
    try {
      token = await this.around.token();
    } catch {
      // Whatever kept the token from being renewed, the next try asks again.
      if (generation === this.generation) this.retry();
      return;
    }
    if (this.stopped || generation !== this.generation) return;
    if (token === null) {
      this.stop();
      this.events.onSignedOut();
      return;
    }
    this.listen(this.around.open(), generation, token);
  }

  private listen(socket: WebSocket, generation: number, token: string): void {
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    const current = () => generation === this.generation;
    this.staleTimer = setTimeout(() => current() && this.lost(), CONNECT_MS);
    socket.addEventListener("open", () => current() && this.hello(token));
    socket.addEventListener("message", (event) => current() && this.receive(event.data));
    socket.addEventListener("close", () => current() && this.lost());
  }

  private hello(accessToken: string): void {
    this.tokenSent = accessToken;
    this.write(create(ClientFrameSchema, { frame: { case: "hello", value: { accessToken, client: CLIENT } } }));
  }

  /** Tells the server a renewed token before the old one runs out, so that the connection can go on. */
  private async renew(generation: number): Promise<void> {
    let token: string | null;
    try {
      token = await this.around.token();
    } catch {
      // The old token is good for a while yet; the next beat asks again.
      return;
    }
    if (generation === this.generation && this.welcomed && token !== null && token !== this.tokenSent)
      this.hello(token);
  }

  private write(frame: ClientFrame): void {
    this.socket?.send(toBinary(ClientFrameSchema, frame) as Uint8Array<ArrayBuffer>);
  }

  private receive(data: unknown): void {
    if (!(data instanceof ArrayBuffer)) return;
    const { frame } = fromBinary(ServerFrameSchema, new Uint8Array(data));
    switch (frame.case) {
      case "welcome":
        return this.welcome(frame.value);
      case "pong":
        if (frame.value.id === this.pingId) this.measured(Number(frame.value.serverTimeMs));
        return;
      case "probe":
        this.send({ case: "probeAnswer", value: { id: frame.value.id } });
        return;
      case "goodbye":
        return this.goodbye(frame.value);
      default:
        this.events.onFrame(frame);
    }
  }

  private welcome(welcome: Welcome): void {
    clearTimeout(this.staleTimer);
    this.welcomed = true;
    this.welcomedAt = this.around.now();
    this.retryAtLeast = 0;
    this.refusals = 0;
    this.events.onConnection("live");
    this.events.onWelcome(welcome);
    const heartbeat = welcome.heartbeatMs > 0 ? Math.min(PING_MS, welcome.heartbeatMs / 2) : PING_MS;
    this.beat(heartbeat);
  }

  private beat(everyMs: number): void {
    this.ping();
    void this.renew(this.generation);
    clearTimeout(this.pingTimer);
    this.pingTimer = setTimeout(() => this.beat(everyMs), everyMs);
  }

  private ping(): void {
    this.pingId += 1n;
    this.pingSentAt = this.around.now();
    this.send({ case: "ping", value: { id: this.pingId } });
    clearTimeout(this.staleTimer);
    const generation = this.generation;
    this.staleTimer = setTimeout(() => generation === this.generation && this.lost(), STALE_MS);
  }

  private measured(serverTime: number): void {
    clearTimeout(this.staleTimer);
    const now = this.around.now();
    this.events.onMeasured(now - this.pingSentAt, offsetOf(this.pingSentAt, serverTime, now));
  }

  private goodbye({ reason, retryAfterMs }: Goodbye): void {
    if (reason === Reason.SUPERSEDED_CONNECTION) {
      this.stop();
      this.events.onConnection("replaced");
      return;
    }
    // A token that ran out is renewed for the next try; one that is refused twice in a row is no good.
    if (reason === Reason.UNAUTHENTICATED && ++this.refusals > 1) {
      this.stop();
      this.events.onSignedOut();
      return;
    }
    this.retryAtLeast = retryAfterMs;
    this.lost();
  }

  private lost(): void {
    if (this.welcomed && this.around.now() - this.welcomedAt >= STEADY_MS) this.tries = 0;
    this.drop();
    if (!this.stopped) this.retry();
  }

  private retry(): void {
    this.events.onConnection("lost");
    const delay = backoff(this.tries, this.around.random(), this.retryAtLeast);
    this.tries += 1;
    this.retryTimer = setTimeout(() => void this.connect(), delay);
  }

  private drop(): void {
    this.generation += 1;
    this.welcomed = false;
    clearTimeout(this.retryTimer);
    clearTimeout(this.pingTimer);
    clearTimeout(this.staleTimer);
    this.retryTimer = undefined;
    this.socket?.close();
    this.socket = null;
  }
}
