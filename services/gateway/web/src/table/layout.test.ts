import { expect, test } from "vitest";
import type { Choice, MeldModel } from "../model";
import { bestChoice, claimedTurn, meldTiles, riverCell, riverRows, slots } from "./layout";

test("a river fills six to a row", () => {
  expect([0, 5, 6, 23].map(riverCell)).toEqual([
    { row: 0, column: 0 },
    { row: 0, column: 5 },
    { row: 1, column: 0 },
    { row: 3, column: 5 },
  ]);
});

test("the rows of a river", () => {
  expect([0, 1, 6, 7, 24, 25].map(riverRows)).toEqual([0, 1, 1, 2, 4, 5]);
});

const pung = (from: 0 | 1 | 2 | 3): MeldModel => ({
  kind: "pung",
  tiles: [4, 5, 6],
  claimed: { tile: 6, from },
  added: null,
});

test("the claimed tile lies at the side of the seat it came from", () => {
  const lying = (from: 0 | 1 | 2 | 3, owner: 0 | 1 | 2 | 3) =>
    meldTiles(pung(from), owner).findIndex((tile) => tile.lying);
  expect(lying(3, 0)).toBe(0);
  expect(lying(2, 0)).toBe(1);
  expect(lying(1, 0)).toBe(2);
  // As the owner sees it: the seat at the left of the one opposite is the one at the reader's right.
  expect(lying(1, 2)).toBe(0);
});

test("the claimed tile's head points to its source", () => {
  expect(claimedTurn(3, 0)).toBe(1);
  expect(claimedTurn(1, 0)).toBe(3);
});

test("a concealed kong shows two backs and lies nowhere", () => {
  const meld: MeldModel = { kind: "concealed kong", tiles: [0, 1, 2, 3], claimed: null, added: null };
  expect(meldTiles(meld, 0).map(({ tile }) => tile)).toEqual([0, null, null, 3]);
});

test("an added kong stacks its fourth tile on the claimed one", () => {
  const meld: MeldModel = { kind: "added kong", tiles: [4, 5, 6, 7], claimed: { tile: 6, from: 3 }, added: 7 };
  const tiles = meldTiles(meld, 0);
  expect(tiles.map(({ tile }) => tile)).toEqual([6, 7, 4, 5]);
  expect(tiles.map(({ stacked }) => stacked)).toEqual([false, true, false, false]);
});

const choice = (id: string, type: "pass" | "chow" | "pung" | "kong" | "win"): Choice => {
  if (type === "pass") return { id, action: { type } };
  if (type === "win") return { id, action: { type, worth: "" } };
  if (type === "kong") return { id, action: { type, tiles: [], concealed: false } };
  return { id, action: { type, tiles: [] } };
};

test("pass is in the same place whatever else is offered (C103)", () => {
  const offers: Choice[][] = [
    [choice("pass", "pass"), choice("pung", "pung")],
    [choice("win", "win"), choice("pass", "pass")],
    [choice("c1", "chow"), choice("c2", "chow"), choice("c3", "chow"), choice("k", "kong"), choice("pass", "pass")],
  ];
  for (const offer of offers) {
    expect(slots(offer).find((slot) => slot.choice.id === "pass")).toMatchObject({ column: 1, level: 0 });
  }
});

test("no two choices share a place, three chows, pung, kong and win together", () => {
  const all = slots([
    choice("win", "win"),
    choice("kong", "kong"),
    choice("pung", "pung"),
    choice("c1", "chow"),
    choice("c2", "chow"),
    choice("c3", "chow"),
    choice("pass", "pass"),
  ]);
  expect(new Set(all.map(({ column, level }) => `${column}/${level}`)).size).toBe(7);
  expect(all.find((slot) => slot.choice.id === "pung")).toMatchObject({ column: 3, level: 0 });
});

test("the best choice is the win, else the strongest claim, never pass and never an own kong", () => {
  expect(bestChoice([choice("pass", "pass"), choice("c", "chow"), choice("w", "win")])).toBe("w");
  expect(bestChoice([choice("pass", "pass"), choice("c", "chow"), choice("p", "pung")])).toBe("p");
  expect(bestChoice([choice("k", "kong")])).toBeNull();
  expect(bestChoice([])).toBeNull();
});
