/** Made-up tables for looking at the screens during development. */

import type { Choice, Discard, MeldModel, Place, SeatModel, SettlementModel, TableModel, Wind } from "../src/model";
import { kindNamed, type TileId } from "../src/tiles/notation";

/** Hands out copies of tiles, so that no tile lies on the table twice. */
class Set144 {
  private readonly used = new Map<string, number>();

  tile(notation: string): TileId {
    const kind = kindNamed(notation);
    const copy = this.used.get(notation) ?? 0;
    this.used.set(notation, copy + 1);
    return kind < 34 ? kind * 4 + (copy % 4) : 136 + kind - 34;
  }

  tiles(text: string): TileId[] {
    return text
      .split(" ")
      .filter(Boolean)
      .map((notation) => this.tile(notation));
  }

  river(text: string): Discard[] {
    return text
      .split(" ")
      .filter(Boolean)
      .map((notation) => ({ tile: this.tile(notation.replace("*", "")), claimed: notation.endsWith("*") }));
  }

  chow(text: string, from: Place): MeldModel {
    const tiles = this.tiles(text);
    return { kind: "chow", tiles, claimed: { tile: tiles[0] as TileId, from }, added: null };
  }

  set(kind: Exclude<MeldModel["kind"], "chow">, notation: string, from: Place | null): MeldModel {
    const tiles = Array.from({ length: kind === "pung" ? 3 : 4 }, () => this.tile(notation));
    return {
      kind,
      tiles,
      claimed: from === null ? null : { tile: tiles[1] as TileId, from },
      added: kind === "added kong" ? (tiles[3] as TileId) : null,
    };
  }
}

function seat(place: Place, wind: Wind, name: string, more: Partial<SeatModel>): SeatModel {
  return {
    place,
    wind,
    name,
    presence: "present",
    deciding: false,
    rating: { value: 1500, provisional: false },
    points: 0,
    clock: null,
    holding: 13,
    drawn: null,
    river: [],
    melds: [],
    bonus: [],
    ...more,
  };
}

function common(): Omit<TableModel, "seats" | "prompt" | "lastDiscard"> {
  return {
    id: "gallery",
    title: ["Hong Kong Old Style", "rated", "Standard 5 s + 20 s"],
    connection: "live",
    latencyMs: 28,
    serverOffsetMs: 0,
    prevailing: 0,
    hand: 3,
    wallCount: 0,
    worth: {
      patterns: [
        { name: "All sequences", value: "1" },
        { name: "No flowers or seasons", value: "1" },
        { name: "Last tile", value: "1" },
      ],
      total: "3 of 3 faan",
      mayWin: true,
      reason: "",
    },
    waits: [
      { kind: kindNamed("5p"), unseen: 3, tooLow: false },
      { kind: kindNamed("8p"), unseen: 2, tooLow: true },
    ],
    log: [
      { id: "1", who: "Meilin", what: "pung of red dragons" },
      { id: "2", who: "You", what: "chow 3-4-5 characters" },
      { id: "3", who: "Ondine", what: "flower 2, replaced" },
      { id: "4", who: "Tomas", what: "discards 4 dots" },
      { id: "5", who: "Tomas", what: "discards 5 dots" },
    ],
    switches: { sort: true, passClaims: false, takeWins: false },
    settlement: null,
    gathering: null,
    notice: "",
  };
}

/** The reader may win on the last discard, with the last tile of the wall. */
export function claim(now: number): TableModel {
  const set = new Set144();
  const chow = set.chow("3m 4m 5m", 3);
  const own = set.tiles("2m 3m 4m 6p 7p 3s 3s 4s 5s 6s");
  const choices: Choice[] = [
    { id: "pass", action: { type: "pass" } },
    { id: "chow", action: { type: "chow", tiles: set.tiles("5p 6p 7p") } },
    { id: "win", action: { type: "win", worth: "3 faan" } },
  ];
  const right = set.river("1s 3s 4z 2m 8p 7p 6m 4p 5p");
  return {
    ...common(),
    seats: [
      seat(0, 0, "You", {
        rating: { value: 1502, provisional: false },
        points: 4,
        deciding: true,
        clock: { baseMs: 5000, baseEndsAt: now + 3000, reserveMs: 20000 },
        holding: own,
        river: set.river("9m 1z 2z 9p 1p 8s 2p"),
        melds: [chow],
      }),
      seat(1, 1, "Tomas", { rating: { value: 1530, provisional: false }, points: 8, river: right }),
      seat(2, 2, "Ondine", {
        rating: { value: 1561, provisional: false },
        points: 12,
        bonus: set.tiles("2f"),
        river: set.river("1m 9m 3z 3z 9s 1p 5m"),
      }),
      seat(3, 3, "Meilin", {
        presence: "away",
        rating: { value: 1483, provisional: true },
        points: -24,
        holding: 10,
        bonus: set.tiles("3f"),
        melds: [set.set("pung", "5z", 1)],
        river: set.river("2z 4z 1p 9p* 8m 7s 2s"),
      }),
    ],
    lastDiscard: { place: 1, index: 8 },
    prompt: { id: "p1", choices, discards: [], answered: false },
  };
}

/** One's own turn late in a hand: long rivers, many melds, bonus tiles, several kongs on offer. */
export function crowded(now: number): TableModel {
  const set = new Set144();
  const own = set.tiles("2m 2m 2m 2m 5p 6p 7p");
  const drawn = set.tile("7p");
  const choices: Choice[] = [
    { id: "k1", action: { type: "kong", tiles: own.slice(0, 4), concealed: true } },
    { id: "k2", action: { type: "kong", tiles: [set.tile("9s")], concealed: false } },
  ];
  return {
    ...common(),
    hand: 11,
    wallCount: 17,
    worth: { patterns: [], total: "1 of 3 faan", mayWin: false, reason: "2 faan short: a pung of dragons would do." },
    waits: [],
    seats: [
      seat(0, 2, "You", {
        points: -128,
        deciding: true,
        clock: { baseMs: 5000, baseEndsAt: now - 1000, reserveMs: 20000 },
        holding: own,
        drawn,
        bonus: set.tiles("1f 2g 4g"),
        melds: [set.set("pung", "9s", 2), set.chow("4s 5s 6s", 3)],
        river: set.river("9m 1z 2z 9p 1p 8s* 2p 1m 9m 3z 4z 1s 3s 8m 5m 6m 4m 8p 9p"),
      }),
      seat(1, 3, "Bartholomäus Featherstonehaugh", {
        points: 64,
        holding: 4,
        melds: [set.set("added kong", "1z", 0), set.set("pung", "6z", 2), set.chow("7s 8s 9s", 0)],
        bonus: set.tiles("1g 3g"),
        river: set.river("1s 3s 4z 2m 8p 7p 6m 4p* 5p 5s 5s 7m 8m 9m 1m 3m 6p 2s"),
      }),
      seat(2, 0, "Ondine", {
        points: 96,
        holding: 1,
        bonus: set.tiles("3f 4f"),
        melds: [
          set.set("concealed kong", "6s", null),
          set.set("claimed kong", "3p", 3),
          set.set("pung", "7z", 1),
          set.set("pung", "8s", 0),
        ],
        river: set.river("1m 9m 3z 3z 9s 1p 5m 2s 3s 3s 4m 7m 1z 2z 5z 8p 9p 4s"),
      }),
      seat(3, 1, "Meilin", {
        presence: "computer",
        rating: null,
        points: -32,
        holding: 4,
        bonus: set.tiles("2f"),
        melds: [set.set("pung", "5z", 1), set.chow("1p 2p 3p", 2), set.set("claimed kong", "7s", 0)],
        river: set.river("2z 4z 1p 9p* 8m 7s 2s 4s 6m 5m 2z 6p 7p 8p 1s 4z 3z 3m"),
      }),
    ],
    lastDiscard: { place: 3, index: 17 },
    prompt: { id: "p2", choices, discards: [...own, drawn], answered: false },
  };
}

/** Everything on offer at once. */
export function offers(now: number): TableModel {
  const set = new Set144();
  const model = claim(now);
  return {
    ...model,
    prompt: {
      id: "p3",
      answered: false,
      discards: [],
      choices: [
        { id: "pass", action: { type: "pass" } },
        { id: "c1", action: { type: "chow", tiles: set.tiles("3p 4p 5p") } },
        { id: "c2", action: { type: "chow", tiles: set.tiles("4p 5p 6p") } },
        { id: "c3", action: { type: "chow", tiles: set.tiles("5p 6p 7p") } },
        { id: "pung", action: { type: "pung", tiles: set.tiles("5p 5p 5p") } },
        { id: "kong", action: { type: "kong", tiles: set.tiles("5p 5p 5p 5p"), concealed: false } },
        { id: "win", action: { type: "win", worth: "13 faan" } },
      ],
    },
  };
}

/** Somebody else's turn, early. */
export function waiting(now: number): TableModel {
  const set = new Set144();
  const model = claim(now);
  const [own, right, opposite, left] = model.seats;
  return {
    ...model,
    wallCount: 83,
    prompt: null,
    worth: null,
    waits: [],
    lastDiscard: { place: 0, index: 0 },
    seats: [
      {
        ...own,
        deciding: false,
        clock: null,
        melds: [],
        holding: set.tiles("2m 3m 4m 6p 7p 3s 3s 4s 5s 6s 5z 5z 1f"),
        river: set.river("9m"),
      },
      {
        ...right,
        deciding: true,
        drawn: "hidden",
        river: [],
        clock: { baseMs: 5000, baseEndsAt: now + 2000, reserveMs: 20000 },
      },
      { ...opposite, river: [] },
      { ...left, river: [], melds: [], holding: 13 },
    ],
  };
}

export function settled(now: number): TableModel {
  const model = claim(now);
  const [own] = model.seats;
  const settlement: SettlementModel = {
    id: "s1",
    sentence: "You win on Tomas's discard",
    wins: [
      {
        who: "You",
        tiles: own.holding as TileId[],
        winning: kindNamed("5p") * 4 + 3,
        melds: own.melds,
        bonus: [],
        patterns: model.worth?.patterns ?? [],
        total: "3 faan",
        payment: "8 points from Tomas",
      },
    ],
    seats: [
      settledSeat(model, 0, 8, 1502, 1511, false),
      settledSeat(model, 1, -8, 1530, 1522, true),
      settledSeat(model, 2, 0, 1561, 1561, true),
      settledSeat(model, 3, 0, 1483, 1482, false),
    ],
    wall: "verified",
    readyBy: now + 26000,
    over: false,
    note: "",
  };
  return { ...model, prompt: null, settlement };
}

function settledSeat(model: TableModel, place: Place, change: number, before: number, after: number, ready: boolean) {
  const { wind, name, points } = model.seats[place];
  return {
    place,
    wind,
    name,
    change,
    pointsAfter: points + change,
    rating: { before: { value: before, provisional: false }, after: { value: after, provisional: place === 3 } },
    ready,
  };
}

export function gathering(now: number): TableModel {
  const model = waiting(now);
  return {
    ...model,
    lastDiscard: null,
    gathering: {
      id: "g1",
      seats: [
        { place: 0, name: "You", ready: false },
        { place: 1, name: "Tomas", ready: true },
        { place: 2, name: "", ready: false },
        { place: 3, name: "Meilin", ready: true },
      ],
      code: "KITE-RIVER-42",
      ready: null,
      readyBy: null,
      mayFill: true,
    },
  };
}

export const STATES = { claim, crowded, offers, waiting, settled, gathering };
