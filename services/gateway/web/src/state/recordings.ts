/** What real tables sent their viewers, for tests; `fixtures/record_tables.py` makes it. */

import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import { ServerFrameSchema } from "../gen/eastwind/edge/v1/frames_pb";
import type { TableUpdate } from "../gen/eastwind/table/v1/view_pb";

export interface Recording {
  readonly ending: string;
  readonly viewer: number;
  readonly updates: readonly TableUpdate[];
  /** By how many updates came before: the whole view as the server would send it then. */
  readonly checks: ReadonlyMap<number, TableUpdate>;
}

interface Stored {
  readonly viewer: number;
  readonly frames: readonly string[];
  readonly checks: Readonly<Record<string, string>>;
}

function update(base64: string): TableUpdate {
  const { frame } = fromBinary(ServerFrameSchema, Uint8Array.from(Buffer.from(base64, "base64")));
  if (frame.case !== "table") throw new Error("a recording holds updates of tables only");
  return frame.value;
}

export function recordings(): readonly Recording[] {
  const path = new URL("../../fixtures/tables.json", import.meta.url);
  const stored = JSON.parse(readFileSync(path, "utf8")) as Record<string, readonly Stored[]>;
  return Object.entries(stored).flatMap(([ending, tables]) =>
    tables.map(({ viewer, frames, checks }) => ({
      ending,
      viewer,
      updates: frames.map(update),
      checks: new Map(Object.entries(checks).map(([count, frame]) => [Number(count), update(frame)])),
    })),
  );
}
