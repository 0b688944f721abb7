import type { TableModel } from "../model";

interface TableHeaderProps {
  model: TableModel;
  sound: boolean;
  onSound: (on: boolean) => void;
  onLeave: () => void;
  panelOpen: boolean;
  onPanel: () => void;
}

/** The name, what is played, how the connection is, and the way out. */
export function TableHeader({ model, sound, onSound, onLeave, panelOpen, onPanel }: TableHeaderProps) {
  return (
    <header class="bar">
      <Brand />
      <span class="quiet title">{[...(model.watching ? ["You are watching"] : []), ...model.title].join(" · ")}</span>
      {model.latencyMs !== null && model.connection === "live" && (
        <span class="quiet latency">{Math.round(model.latencyMs)} ms</span>
      )}
      <button
        type="button"
        class="plain panel-button"
        aria-expanded={panelOpen}
        aria-controls="table-panel"
        onClick={onPanel}
      >
        {panelOpen ? "Close" : "Details"}
      </button>
      <button type="button" class="plain sound-button" onClick={() => onSound(!sound)}>
        {sound ? "Sound on" : "Sound off"}
      </button>
      <button type="button" class="plain" onClick={onLeave}>
        Leave
      </button>
    </header>
  );
}

export function Brand() {
  return (
    <span class="brand">
      <span class="brand-mark">E</span>astwind
    </span>
  );
}
