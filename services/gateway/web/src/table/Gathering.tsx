import { secondsUntil } from "../clock";
import type { GatheringModel } from "../model";
import { useNow } from "../useNow";

interface GatheringProps {
  gathering: GatheringModel;
  serverOffsetMs: number;
  onReady: () => void;
  onFill: () => void;
}

/** Before the first hand: who is here, how to invite, and the ready button. */
export function Gathering({ gathering, serverOffsetMs, onReady, onFill }: GatheringProps) {
  const { seats, code, ready, mayFill, readyBy } = gathering;
  const free = seats.filter(({ name }) => name === "").length;
  return (
    <div class="settlement-layer">
      <div class="settlement gathering" role="dialog" aria-label="Before the first hand">
        <h1>{free > 0 ? `Waiting for ${free === 1 ? "one player" : `${free} players`}` : "Everybody is here"}</h1>
        <ul class="gathered">
          {seats.map((seat) => (
            <li key={seat.place}>
              {seat.name ? <bdi>{seat.name}</bdi> : <span class="quiet">free seat</span>}
              {seat.name && <span class="quiet">{seat.ready ? "ready" : free > 0 ? "" : "not ready yet"}</span>}
            </li>
          ))}
        </ul>
        {code && free > 0 && (
          <p class="invite">
            <span class="quiet">Invite with this code</span> <output>{code}</output>
          </p>
        )}
        <footer>
          {free > 0 && mayFill && (
            <button type="button" class="action" onClick={onFill}>
              Fill with computers
            </button>
          )}
          {free === 0 && ready !== null && (
            <button type="button" class="action best ready" disabled={ready} onClick={onReady}>
              <span class="label">{ready ? "Waiting for the others" : "Ready"}</span>
              {!ready && <kbd>Space</kbd>}
              {readyBy !== null && <TimeLeft until={readyBy} serverOffsetMs={serverOffsetMs} />}
            </button>
          )}
        </footer>
      </div>
    </div>
  );
}

export function TimeLeft({ until, serverOffsetMs }: { until: number; serverOffsetMs: number }) {
  return <span class="ready-time">{secondsUntil(until, useNow(serverOffsetMs, true))} s</span>;
}
