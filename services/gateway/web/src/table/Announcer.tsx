import { useEffect, useRef, useState } from "preact/hooks";
import type { TableModel } from "../model";
import { kindOf, spokenName } from "../tiles/notation";
import { choiceName, sentence } from "../words";

const KEPT = 3;

/** Says to a screen reader what was just added to the log, and what one may do. */
export function Announcer({ model }: { model: TableModel }) {
  const seen = useRef<string | null>(null);
  const [events, setEvents] = useState("");
  const last = model.log.at(-1)?.id ?? null;
  useEffect(() => {
    const known = model.log.findIndex(({ id }) => id === seen.current);
    const fresh = model.log.slice(known + 1).slice(-KEPT);
    seen.current = last;
    if (fresh.length > 0) setEvents(fresh.map(sentence).join(". "));
  }, [last]);
  return (
    <>
      <p class="sr-only" role="log" aria-live="polite" aria-atomic="true">
        {events}
      </p>
      <p class="sr-only" aria-live="assertive" aria-atomic="true">
        {promptWords(model)}
      </p>
    </>
  );
}

function promptWords({ prompt, seats, settlement }: TableModel): string {
  if (settlement) return settlement.sentence;
  if (!prompt || prompt.answered) return "";
  const choices = prompt.choices.map(choiceName).join(", ");
  if (prompt.discards.length === 0) return `You may: ${choices}.`;
  const drawn = seats[0].drawn;
  const drew = typeof drawn === "number" ? `You drew ${spokenName(kindOf(drawn))}. ` : "";
  const call = prompt.calls.length > 0 ? " A discard that leaves you ready may carry an Original Call." : "";
  return `${drew}Your turn. ${choices ? `You may: ${choices}, or discard.` : "Choose a tile to discard."}${call}`;
}
