import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  type ClientFrame,
  ClientFrameSchema,
  type ServerFrame,
  ServerFrameSchema,
} from "../gen/eastwind/edge/v1/frames_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import type { Connection } from "../model";
import { Session } from "./session";

/** The other end of a socket, played by the test. */
class Line extends EventTarget {
  readyState: number = WebSocket.CONNECTING;
  binaryType = "blob";
  readonly received: ClientFrame["frame"][] = [];

  send(data: Uint8Array): void {
    this.received.push(fromBinary(ClientFrameSchema, data).frame);
  }

  close(): void {
    this.readyState = WebSocket.CLOSED;
  }

  open(): void {
    this.readyState = WebSocket.OPEN;
    this.dispatchEvent(new Event("open"));
  }

  tell(frame: MessageInitShape<typeof ServerFrameSchema>["frame"]): void {
    const message = create(ServerFrameSchema, { frame } as MessageInitShape<typeof ServerFrameSchema>);
    const bytes = toBinary(ServerFrameSchema, message);
    this.dispatchEvent(new MessageEvent("message", { data: bytes.slice().buffer }));
  }

  breakOff(): void {
    this.readyState = WebSocket.CLOSED;
    this.dispatchEvent(new Event("close"));
  }

  got(name: ClientFrame["frame"]["case"]): number {
    return this.received.filter((frame) => frame.case === name).length;
  }
}

let lines: Line[];
let connections: Connection[];
let frames: ServerFrame["frame"][];
let signedOut: number;
let measured: [number, number][];
let token: string | null;
let page: EventTarget;
let doc: EventTarget & { visibilityState: DocumentVisibilityState };
let session: Session;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  lines = [];
  connections = [];
  frames = [];
  measured = [];
  signedOut = 0;
  token = "token-1";
  page = new EventTarget();
  doc = Object.assign(new EventTarget(), { visibilityState: "visible" as DocumentVisibilityState });
  session = new Session(
    {
      onConnection: (connection) => connections.push(connection),
      onWelcome: () => undefined,
      onFrame: (frame) => frames.push(frame),
      onSignedOut: () => {
        signedOut += 1;
      },
      onMeasured: (latency, offset) => measured.push([latency, offset]),
    },
    {
      open: () => {
        const line = new Line();
        lines.push(line);
        return line as unknown as WebSocket;
      },
      token: async () => token,
      now: () => Date.now(),
      random: () => 1,
      page: page as unknown as Window,
      document: doc as unknown as Document,
    },
  );
});

afterEach(() => {
  session.stop();
  vi.useRealTimers();
});

const settled = () => vi.advanceTimersByTimeAsync(0);
const last = () => lines.at(-1) as Line;

async function connected(): Promise<Line> {
  session.start();
  await settled();
  last().open();
  last().tell({ case: "welcome", value: { serverTimeMs: 5_000_000n, heartbeatMs: 30_000 } });
  await settled();
  return last();
}

test("the token goes in the first frame, and the session is live once it is welcomed", async () => {
  const line = await connected();
  const hello = line.received[0];
  expect(hello?.case === "hello" && hello.value.accessToken).toBe("token-1");
  expect(connections).toEqual(["connecting", "live"]);
  expect(session.live).toBe(true);
});

test("nothing can be sent before the welcome or after the connection is lost", async () => {
  session.start();
  await settled();
  last().open();
  expect(session.send({ case: "leaveQueue", value: {} })).toBe(false);
  last().tell({ case: "welcome", value: {} });
  expect(session.send({ case: "leaveQueue", value: {} })).toBe(true);
  last().breakOff();
  expect(session.send({ case: "leaveQueue", value: {} })).toBe(false);
});

test("it tries again without an end while the server is unreachable for three minutes (C104)", async () => {
  await connected();
  last().breakOff();
  for (let at = 0; at < 180; at++) {
    await vi.advanceTimersByTimeAsync(1000);
    if (last().readyState === WebSocket.CONNECTING) last().breakOff();
  }
  expect(lines.length).toBeGreaterThan(12);
  expect(lines.length).toBeLessThan(25);
  while (last().readyState !== WebSocket.CONNECTING) await vi.advanceTimersByTimeAsync(1000);
  last().open();
  last().tell({ case: "welcome", value: {} });
  expect(connections.at(-1)).toBe("live");
});

test("a half-open socket is found by the ping that nobody answers (C104)", async () => {
  const line = await connected();
  line.tell({ case: "pong", value: { id: 1n, serverTimeMs: 5_000_000n } });
  await vi.advanceTimersByTimeAsync(16_500);
  expect(line.got("ping")).toBeGreaterThan(1);
  expect(connections).toContain("lost");
  expect(line.readyState).toBe(WebSocket.CLOSED);
});

test("answered pings keep it alive and measure latency and the server's clock", async () => {
  const line = await connected();
  for (let id = 1n; id < 6n; id++) {
    await vi.advanceTimersByTimeAsync(40);
    line.tell({ case: "pong", value: { id, serverTimeMs: BigInt(Date.now() - 20 + 70_000) } });
    await vi.advanceTimersByTimeAsync(9_960);
  }
  expect(connections.at(-1)).toBe("live");
  expect(measured[0]).toEqual([40, 70_000]);
});

test("when the network is back it connects at once", async () => {
  await connected();
  for (let tries = 0; tries < 8; tries++) {
    last().breakOff();
    await vi.advanceTimersByTimeAsync(15_000);
  }
  last().breakOff();
  const before = lines.length;
  page.dispatchEvent(new Event("online"));
  await settled();
  expect(lines.length).toBe(before + 1);
});

test("a page that is seen again asks whether its socket lives", async () => {
  const line = await connected();
  line.tell({ case: "pong", value: { id: 1n } });
  const pings = line.got("ping");
  doc.dispatchEvent(new Event("visibilitychange"));
  expect(line.got("ping")).toBe(pings + 1);
});

test("probes are answered at once", async () => {
  const line = await connected();
  line.tell({ case: "probe", value: { id: 7n } });
  expect(line.received.at(-1)).toMatchObject({ case: "probeAnswer", value: { id: 7n } });
});

test("a connection that another window took over is left alone until it is taken back", async () => {
  const line = await connected();
  line.tell({ case: "goodbye", value: { reason: Reason.SUPERSEDED_CONNECTION } });
  line.breakOff();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(connections.at(-1)).toBe("replaced");
  expect(lines.length).toBe(1);
  session.start();
  await settled();
  expect(lines.length).toBe(2);
});

test("a server that goes away is asked again when it said to", async () => {
  const line = await connected();
  line.tell({ case: "goodbye", value: { reason: Reason.GOING_AWAY, retryAfterMs: 4000 } });
  line.breakOff();
  await vi.advanceTimersByTimeAsync(3900);
  expect(lines.length).toBe(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(lines.length).toBe(2);
});

test("a token that ran out is renewed, one that is refused again signs out", async () => {
  const line = await connected();
  line.tell({ case: "goodbye", value: { reason: Reason.UNAUTHENTICATED } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(signedOut).toBe(0);
  last().open();
  last().tell({ case: "goodbye", value: { reason: Reason.UNAUTHENTICATED } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(signedOut).toBe(1);
  expect(lines.length).toBe(2);
});

test("a renewed token is told on the open connection", async () => {
  const line = await connected();
  token = "token-2";
  line.tell({ case: "pong", value: { id: 1n } });
  await vi.advanceTimersByTimeAsync(10_100);
  const hellos = line.received.filter((frame) => frame.case === "hello");
  expect(hellos.map((frame) => frame.value.accessToken)).toEqual(["token-1", "token-2"]);
});

test("without a session nothing is opened", async () => {
  token = null;
  session.start();
  await settled();
  expect(lines.length).toBe(0);
  expect(signedOut).toBe(1);
});

test("frames of a socket that was given up are not heard any more", async () => {
  const line = await connected();
  session.stop();
  line.tell({ case: "problem", value: { detail: "late" } });
  expect(frames).toEqual([]);
});
