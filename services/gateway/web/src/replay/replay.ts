/** A finished hand, step by step. */

import { create } from "@bufbuild/protobuf";
import type { OpenedWall } from "../fairness";
import type { HandRecord } from "../gen/eastwind/history/v1/record_pb";
import type { RatingChange } from "../gen/eastwind/ratings/v1/ratings_service_pb";
import type { TableEvent } from "../gen/eastwind/table/v1/event_pb";
import { SeatViewSchema, TablePhase, TableUpdateSchema, TableViewSchema } from "../gen/eastwind/table/v1/view_pb";
import { afterUpdate, GAP, type TableState } from "../state/table";

export interface Replay {
  readonly recordId: string;
  readonly states: readonly TableState[];
  readonly step: number;
  readonly opened: OpenedWall;
  /** Whether the settlement at the end was put aside. */
  readonly settlementClosed: boolean;
}

/** Events that change nothing that is seen. */
const UNSEEN: ReadonlySet<TableEvent["event"]["case"]> = new Set([
  "decisionOpened",
  "choiceHeld",
  "clockSet",
  "seatAnswered",
  "nonceCommitted",
  "readyStepOpened",
  "seatReady",
  "outageGranted",
  "ratedUnitEnded",
  "matchEnded",
]);

/** A record as the states that it went through, as `accountId` saw it, with all tiles open. */
export function replayOf(record: HandRecord, changes: readonly RatingChange[], accountId: string): Replay {
  const viewer = Math.max(
    0,
    record.players.findIndex((player) => player.accountId === accountId),
  );
  const view = create(TableViewSchema, {
    tableId: record.tableId,
    viewer,
    phase: TablePhase.PLAYING,
    hand: record.hand,
    dealerChanges: record.dealerChanges,
    unitRated: record.rated,
    seats: record.players.map((player, seat) =>
      create(SeatViewSchema, { seat, player, points: record.pointsBefore[seat] ?? 0, connected: true }),
    ),
  });
  if (record.settings) view.settings = record.settings;
  let sequence = 0n;
  let state = afterUpdate(null, create(TableUpdateSchema, { tableId: record.tableId, sequence, view }));
  const states: TableState[] = [];
  for (const { event } of record.events) {
    if (!event || state === GAP) continue;
    sequence += 1n;
    state = afterUpdate(state, create(TableUpdateSchema, { tableId: record.tableId, sequence, events: [event] }));
    if (state !== GAP && !UNSEEN.has(event.event.case)) states.push(state);
  }
  const steps = new Map(
    changes.map((change) => [
      change.accountId,
      {
        before: { value: change.before, provisional: change.provisional },
        after: { value: change.after, provisional: change.provisional },
      },
    ]),
  );
  return {
    recordId: record.recordId,
    states: states.map((each) => ({ ...each, steps, wall: each.view.settled ? "checking" : each.wall })),
    step: 0,
    opened: {
      algorithm: record.algorithm,
      tableId: record.tableId,
      hand: record.hand,
      ruleset: record.ruleset,
      seed: record.seed,
      nonces: record.nonces,
      commitments: record.commitments,
    },
    settlementClosed: false,
  };
}

/** The replay at another step, kept within its bounds. */
export function atStep(replay: Replay, step: number): Replay {
  const last = Math.max(0, replay.states.length - 1);
  return { ...replay, step: Math.min(last, Math.max(0, step)), settlementClosed: false };
}
