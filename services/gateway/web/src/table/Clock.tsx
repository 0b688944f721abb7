import { clockFace } from "../clock";
import type { ClockModel } from "../model";
import { useNow } from "../useNow";

interface ClockProps {
  clock: ClockModel;
  serverOffsetMs: number;
  /** False while the connection is lost: the clock is then not shown as if it were live. */
  live: boolean;
}

const RADIUS = 15;
const LENGTH = 2 * Math.PI * RADIUS;

/** The base as a ring with its seconds, the reserve beside it; when the base is over, the reserve is in the ring. */
export function Clock({ clock, serverOffsetMs, live }: ClockProps) {
  const face = clockFace(clock, useNow(serverOffsetMs, live));
  return (
    <span class={`clock ${face.phase}${face.warning ? " warning" : ""}${live ? "" : " stopped"}`} role="timer">
      <svg class="ring" viewBox="0 0 36 36" aria-hidden="true">
        <circle class="track" cx="18" cy="18" r={RADIUS} />
        <circle
          class="left"
          cx="18"
          cy="18"
          r={RADIUS}
          stroke-dasharray={`${(live ? face.left : 0) * LENGTH} ${LENGTH}`}
          transform="rotate(-90 18 18)"
        />
      </svg>
      <span class="seconds">{live ? face.seconds : "–"}</span>
      {face.phase === "base" && face.reserveSeconds > 0 && <span class="reserve">+{face.reserveSeconds}</span>}
    </span>
  );
}
