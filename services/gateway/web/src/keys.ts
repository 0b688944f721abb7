/** The keyboard: which key means what, on its own so that it can be shown on the buttons and tested. */

import type { Choice } from "./model";

const CHOICE_KEYS = {
  win: ["W"],
  pass: ["P"],
  pung: ["U"],
  chow: ["C", "V", "B"],
  kong: ["K", "L", "J", "H"],
} as const;

/** Declares an Original Call with the next discard, or takes that back. */
export const CALL_KEY = "O";

/** The key of each choice by its id; several of one sort get neighbouring keys. */
export function choiceKeys(choices: readonly Choice[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  const used: Partial<Record<Choice["action"]["type"], number>> = {};
  for (const { id, action } of choices) {
    const nth = used[action.type] ?? 0;
    used[action.type] = nth + 1;
    const key = CHOICE_KEYS[action.type][nth];
    if (key !== undefined) keys.set(id, key);
  }
  return keys;
}

export type KeyMeaning =
  | { readonly type: "choose"; readonly id: string }
  | { readonly type: "pick"; readonly index: number }
  | { readonly type: "move"; readonly step: 1 | -1 }
  | { readonly type: "discard" }
  | { readonly type: "call" }
  | { readonly type: "ready" };

export interface KeyContext {
  readonly choices: readonly Choice[];
  /** A discard may carry an Original Call. */
  readonly mayCall?: boolean;
  /** The settlement is up and asks whether one is ready. */
  readonly asksReady: boolean;
}

const DIGITS = "1234567890-=";

/** What a pressed key means now; null when it means nothing and belongs to the browser. */
export function meaningOf(key: string, { choices, mayCall, asksReady }: KeyContext): KeyMeaning | null {
  if (asksReady) return key === " " ? { type: "ready" } : null;
  if (key === " ") {
    const pass = choices.find(({ action }) => action.type === "pass");
    return pass ? { type: "choose", id: pass.id } : null;
  }
  if (key === "ArrowLeft") return { type: "move", step: -1 };
  if (key === "ArrowRight") return { type: "move", step: 1 };
  if (key === "Enter") return { type: "discard" };
  if (mayCall && key.toUpperCase() === CALL_KEY) return { type: "call" };
  const digit = key.length === 1 ? DIGITS.indexOf(key) : -1;
  if (digit >= 0) return { type: "pick", index: digit };
  for (const [id, letter] of choiceKeys(choices)) {
    if (letter.toLowerCase() === key.toLowerCase()) return { type: "choose", id };
  }
  return null;
}

/** For how long a fresh prompt or settlement ignores the keyboard, so that a second press does not fall through to it. */
export const SETTLING_MS = 350;
