import { useLayoutEffect } from "preact/hooks";
import type { TableModel } from "../model";
import { Board } from "../table/Board";
import { Settlement } from "../table/Settlement";
import { Brand } from "../table/TableHeader";
import { Tile } from "../tiles/Tile";
import { sentence } from "../words";

interface ReplayProps {
  model: TableModel;
  step: number;
  steps: number;
  settlementClosed: boolean;
  onStep: (step: number) => void;
  onCloseSettlement: () => void;
  onLeave: () => void;
}

/** A finished hand with all tiles open; arrow keys or the bar go through it. */
export function ReplayScreen({ model, step, steps, settlementClosed, ...on }: ReplayProps) {
  const last = steps - 1;
  // With the drawing, so that the next key finds the step that is seen.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
      const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      on.onStep(to);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  });
  const own = model.seats[0];
  const tiles = typeof own.holding === "number" ? [] : own.holding;
  const line = model.log.at(-1);
  return (
    <div class="table replay">
      <header class="bar">
        <Brand />
        <span class="quiet title">{model.title.join(" · ")} · replay</span>
        <button type="button" class="plain" onClick={on.onLeave}>
          Back
        </button>
      </header>
      <main class="board">
        <Board model={model}>
          <div class="own-hand" role="img" aria-label="Your tiles">
            {tiles.map((tile) => (
              <span key={tile} class="own-tile">
                <Tile tile={tile} moving />
              </span>
            ))}
            {typeof own.drawn === "number" && (
              <span class="own-tile drawn">
                <Tile tile={own.drawn} moving />
              </span>
            )}
          </div>
          <div class="replay-bar">
            <button type="button" class="action" disabled={step === 0} onClick={() => on.onStep(step - 1)}>
              Back
            </button>
            <input
              type="range"
              aria-label="Step of the hand"
              min={0}
              max={last}
              value={step}
              onInput={(event) => on.onStep(event.currentTarget.valueAsNumber)}
            />
            <button type="button" class="action best" disabled={step === last} onClick={() => on.onStep(step + 1)}>
              Next
            </button>
            <p class="quiet" role="status">
              {line ? sentence(line) : ""}
            </p>
          </div>
        </Board>
        {model.settlement && !settlementClosed && (
          <Settlement
            settlement={model.settlement}
            match={null}
            serverOffsetMs={0}
            onReady={on.onCloseSettlement}
            onLeave={on.onLeave}
            closing={{ label: "Look at the hand", act: on.onCloseSettlement }}
          />
        )}
      </main>
    </div>
  );
}
