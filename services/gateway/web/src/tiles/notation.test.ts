import { expect, test } from "vitest";
import {
  isBonus,
  KINDS,
  kindNamed,
  kindOf,
  notation,
  pluralName,
  runName,
  runRanks,
  shortName,
  spokenName,
} from "./notation";

test("every tile of the set has a kind, four copies of each regular kind and one of each bonus tile", () => {
  const count = new Map<number, number>();
  for (let tile = 0; tile < 144; tile++) count.set(kindOf(tile), (count.get(kindOf(tile)) ?? 0) + 1);
  expect(count.size).toBe(KINDS);
  for (const [kind, copies] of count) expect(copies).toBe(isBonus(kind) ? 1 : 4);
});

test("notation names every kind once and is read back", () => {
  const names = Array.from({ length: KINDS }, (_, kind) => notation(kind));
  expect(new Set(names).size).toBe(KINDS);
  names.forEach((name, kind) => {
    expect(kindNamed(name)).toBe(kind);
  });
  expect([names[0], names[13], names[26], names[27], names[33], names[34], names[41]]).toEqual([
    "1m",
    "5p",
    "9s",
    "1z",
    "7z",
    "1f",
    "4g",
  ]);
});

test("tiles have names to be read out and names for sentences", () => {
  const spoken = (name: string) => spokenName(kindNamed(name));
  expect(spoken("5p")).toBe("5 of dots");
  expect(spoken("1z")).toBe("east wind");
  expect(spoken("5z")).toBe("red dragon");
  expect(spoken("3f")).toBe("flower 3, chrysanthemum");
  expect(spoken("4g")).toBe("season 4, winter");
  expect(shortName(kindNamed("9s"))).toBe("9 bamboo");
  expect(pluralName(kindNamed("7z"))).toBe("white dragons");
  expect(pluralName(kindNamed("2m"))).toBe("2 characters");
});

test("all spoken names differ, so that nothing is told by looks alone (C102)", () => {
  expect(new Set(Array.from({ length: KINDS }, (_, kind) => spokenName(kind))).size).toBe(KINDS);
});

test("a run is named from its lowest tile", () => {
  const kinds = ["7p", "5p", "6p"].map(kindNamed);
  expect(runRanks(kinds)).toBe("5-6-7");
  expect(runName(kinds)).toBe("5-6-7 dots");
});

test("what is no tile is refused", () => {
  expect(() => kindOf(144)).toThrow(RangeError);
  expect(() => kindOf(-1)).toThrow(RangeError);
  expect(() => notation(42)).toThrow(RangeError);
  expect(() => kindNamed("8z")).toThrow(RangeError);
});
