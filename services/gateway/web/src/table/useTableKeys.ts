import { useEffect } from "preact/hooks";
import { type KeyMeaning, meaningOf } from "../keys";
import type { TableModel } from "../model";

/** Listens to the keyboard for the whole table and reports what a key means; typing in a field is left alone. */
export function useTableKeys(model: TableModel, onKey: (meaning: KeyMeaning) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof HTMLElement ? event.target : null;
      if (target?.closest("input, select, textarea")) return;
      // Enter and Space keep their own meaning on a focused button, except on tiles, which the table handles.
      const onButton = target?.closest("button, a, summary, [role='switch']");
      if (onButton && !target?.closest(".own-tile") && (event.key === "Enter" || event.key === " ")) return;
      const meaning = meaningOf(event.key, {
        choices: model.prompt && !model.prompt.answered ? model.prompt.choices : [],
        mayCall: model.prompt !== null && !model.prompt.answered && model.prompt.calls.length > 0,
        asksReady: readyAsked(model)?.ready === false,
      });
      if (!meaning) return;
      event.preventDefault();
      onKey(meaning);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  });
}

/** Where the reader is asked whether he is ready: the settlement or the gathering, and what he has said. */
export function readyAsked(model: TableModel): { readonly id: string; readonly ready: boolean } | null {
  const { settlement, gathering } = model;
  if (settlement) {
    const own = settlement.seats.find(({ place }) => place === 0);
    if (settlement.over || !own || own.ready === null) return null;
    return { id: settlement.id, ready: own.ready };
  }
  return gathering && gathering.ready !== null ? { id: gathering.id, ready: gathering.ready } : null;
}
