import type { ComponentChildren } from "preact";
import type { HandSwitch, TableModel } from "../model";
import { Tile } from "../tiles/Tile";
import { spokenName } from "../tiles/notation";
import { unseenWords } from "../words";

interface SidePanelProps {
  model: TableModel;
  onSwitch: (name: HandSwitch, on: boolean) => void;
  /** Look and sound, the same on every page. */
  children: ComponentChildren;
}

const SWITCHES: readonly { readonly name: HandSwitch; readonly label: string }[] = [
  { name: "sort", label: "Sort my tiles" },
  { name: "passClaims", label: "Pass all claims" },
  { name: "takeWins", label: "Take any win" },
];

/** What the hand is worth and waits for, what has happened, and the switches. */
export function SidePanel({ model, onSwitch, children }: SidePanelProps) {
  const { worth, waits, log, switches } = model;
  return (
    <>
      <section class="worth-section">
        <h2>Your hand</h2>
        {worth ? (
          <div class="worth">
            <ul>
              {worth.patterns.map(({ name, value }) => (
                <li key={name}>
                  <span>{name}</span>
                  <span>{value}</span>
                </li>
              ))}
            </ul>
            <p class="total">
              <strong>{worth.total}</strong>
              <strong class={worth.mayWin ? "may" : "may-not"}>{worth.mayWin ? "may win" : "not yet"}</strong>
            </p>
            {worth.reason && <p class="reason">{worth.reason}</p>}
          </div>
        ) : (
          <p class="quiet">Nothing counts yet.</p>
        )}
      </section>
      <section class="waits-section">
        <h2>Waiting for</h2>
        {waits.length === 0 && <p class="quiet">Not waiting yet.</p>}
        <ul class="waits">
          {waits.map(({ kind, unseen, tooLow }) => (
            <li key={kind} aria-label={`${spokenName(kind)}, ${unseenWords(unseen)}${tooLow ? ", too low to win" : ""}`}>
              <Tile tile={kind < 34 ? kind * 4 : 136 + kind - 34} class={tooLow ? "too-low" : ""} />
              <span>{unseenWords(unseen)}</span>
              {tooLow && <span class="low">too low</span>}
            </li>
          ))}
        </ul>
      </section>
      <section class="log-section">
        <h2>This hand</h2>
        <ol class="log">
          {log.map(({ id, who, what }) => (
            <li key={id}>
              {who && <bdi>{who}</bdi>} {what}
            </li>
          ))}
        </ol>
      </section>
      <section class="switches">
        {SWITCHES.map(({ name, label }) => (
          <label key={name}>
            <span>{label}</span>
            <input
              type="checkbox"
              role="switch"
              checked={switches[name]}
              onChange={(event) => onSwitch(name, event.currentTarget.checked)}
            />
          </label>
        ))}
        <p class="quiet scope">The last two end with this hand.</p>
        {children}
      </section>
    </>
  );
}

