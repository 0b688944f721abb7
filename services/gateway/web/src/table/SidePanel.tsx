import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { HandSwitch, MatchModel, TableModel } from "../model";
import { spokenName } from "../tiles/notation";
import { Tile } from "../tiles/Tile";
import { unseenWords } from "../words";
import { ScoreSheet } from "./ScoreSheet";

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
  const { worth, waits, log, switches, match, watching } = model;
  return (
    <>
      {!watching && <OwnWorth worth={worth} waits={waits} />}
      <section class="log-section">
        <h2>This hand</h2>
        <Log lines={log} />
      </section>
      {match && <MatchSheet match={match} />}
      <section class="switches">
        {!watching && <HandSwitches switches={switches} onSwitch={onSwitch} />}
        {children}
      </section>
    </>
  );
}

/** The sheet, with its newest line in view. */
function MatchSheet({ match }: { match: MatchModel }) {
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (section.current) section.current.scrollTop = section.current.scrollHeight;
  }, [match.lines.length]);
  return (
    <section class="sheet-section" ref={section}>
      <h2>This match</h2>
      <ScoreSheet match={match} />
    </section>
  );
}

function OwnWorth({ worth, waits }: Pick<TableModel, "worth" | "waits">) {
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
            <li
              key={kind}
              aria-label={`${spokenName(kind)}, ${unseenWords(unseen)}${tooLow ? ", too low to win" : ""}`}
            >
              <Tile tile={kind < 34 ? kind * 4 : 136 + kind - 34} class={tooLow ? "too-low" : ""} />
              <span>{unseenWords(unseen)}</span>
              {tooLow && <span class="low">too low</span>}
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function HandSwitches({ switches, onSwitch }: Pick<TableModel, "switches"> & Pick<SidePanelProps, "onSwitch">) {
  return (
    <>
      {SWITCHES.map(({ name, label }) => (
        <label key={name}>
          <span>{label}</span>
          <input
            type="checkbox"
            role="switch"
            checked={switches[name]}
            aria-checked={switches[name]}
            onChange={(event) => onSwitch(name, event.currentTarget.checked)}
          />
        </label>
      ))}
      <p class="quiet scope">The last two end with this hand.</p>
    </>
  );
}

/** The newest line is last and in view. */
function Log({ lines }: { lines: TableModel["log"] }) {
  const list = useRef<HTMLOListElement>(null);
  const newest = lines.at(-1)?.id;
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [newest]);
  return (
    <ol class="log" ref={list}>
      {lines.map(({ id, who, what }) => (
        <li key={id}>
          {who && <bdi>{who}</bdi>} {what}
        </li>
      ))}
    </ol>
  );
}
