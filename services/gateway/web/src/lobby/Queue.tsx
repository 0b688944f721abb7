import { secondsUntil } from "../clock";
import { Brand } from "../table/TableHeader";
import { useNow } from "../useNow";
import type { QueueModel } from "./model";

interface QueueProps {
  queue: QueueModel;
  onLeave: () => void;
}

/** Waiting for a table: how many wait, when computers step in, and the way back. */
export function Queue({ queue, onLeave }: QueueProps) {
  const left = secondsUntil(queue.fillAtMs, useNow(queue.serverOffsetMs, true));
  return (
    <main class="page sign-in">
      <div class="sign-in-card" role="status">
        <h1>
          <Brand />
        </h1>
        <p class="queue-words">
          <strong>Looking for players</strong>
          <span class="quiet">
            {queue.ruleset} · {queue.waiting === 1 ? "you are the only one" : `${queue.waiting} waiting`}
          </span>
        </p>
        <p class="quiet">
          {queue.fillAtMs === 0
            ? "Computers take the empty seats soon."
            : left > 0
              ? `Computers take the empty seats in ${left} s; the table is then casual.`
              : "Taking seats …"}
        </p>
        <button type="button" class="action wide" onClick={onLeave}>
          Leave the queue
        </button>
      </div>
    </main>
  );
}
