import { expect, test } from "vitest";
import { choiceKeys, meaningOf } from "./keys";
import type { Choice } from "./model";

const chow = (id: string): Choice => ({ id, action: { type: "chow", tiles: [] } });
const choices: Choice[] = [
  { id: "pass", action: { type: "pass" } },
  chow("c1"),
  chow("c2"),
  chow("c3"),
  { id: "pung", action: { type: "pung", tiles: [] } },
  { id: "kong", action: { type: "kong", tiles: [], concealed: false } },
  { id: "win", action: { type: "win", worth: "3 faan" } },
];
const context = { choices, asksReady: false };

test("every choice has its own key", () => {
  const keys = choiceKeys(choices);
  expect(Object.fromEntries(keys)).toEqual({ pass: "P", c1: "C", c2: "V", c3: "B", pung: "U", kong: "K", win: "W" });
});

test("a key chooses in either case, and space passes", () => {
  expect(meaningOf("w", context)).toEqual({ type: "choose", id: "win" });
  expect(meaningOf("W", context)).toEqual({ type: "choose", id: "win" });
  expect(meaningOf("b", context)).toEqual({ type: "choose", id: "c3" });
  expect(meaningOf(" ", context)).toEqual({ type: "choose", id: "pass" });
});

test("digits and arrows pick a tile and Enter discards it", () => {
  expect(meaningOf("1", context)).toEqual({ type: "pick", index: 0 });
  expect(meaningOf("0", context)).toEqual({ type: "pick", index: 9 });
  expect(meaningOf("=", context)).toEqual({ type: "pick", index: 11 });
  expect(meaningOf("ArrowLeft", context)).toEqual({ type: "move", step: -1 });
  expect(meaningOf("Enter", context)).toEqual({ type: "discard" });
});

test("no letter ever discards: pressing a choice's key again means nothing (C103)", () => {
  for (const key of ["w", "p", "c", "k", "u", " "])
    expect(meaningOf(key, { choices: [], asksReady: false })).toBeNull();
});

test("when the table asks for ready only space has a meaning", () => {
  expect(meaningOf(" ", { choices, asksReady: true })).toEqual({ type: "ready" });
  expect(meaningOf("w", { choices, asksReady: true })).toBeNull();
});
