import { useEffect } from "preact/hooks";
import { meaningOf, type KeyMeaning } from "../keys";
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
      const own = model.settlement?.seats.find(({ place }) => place === 0);
      const meaning = meaningOf(event.key, {
        choices: model.prompt && !model.prompt.answered ? model.prompt.choices : [],
        asksReady: own !== undefined && own.ready === false && !model.settlement?.over,
      });
      if (!meaning) return;
      event.preventDefault();
      onKey(meaning);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  });
}
