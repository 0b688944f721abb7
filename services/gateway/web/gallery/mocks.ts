/** Made-up tables for looking at the screens during development. */

import type {
  Choice,
  Discard,
  MatchModel,
  MeldModel,
  Place,
  SeatModel,
  SettlementModel,
  TableModel,
  Wind,
} from "../src/model";
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
    kongBoxCount: null,
    watching: false,
    match: null,
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
    prompt: { id: "p1", choices, discards: [], calls: [], answered: false },
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
    prompt: { id: "p2", choices, discards: [...own, drawn], calls: [], answered: false },
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
      calls: [],
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
    others: [],
    payments: [],
    readyByItself: false,
    standings: null,
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

const MATCH: MatchModel = {
  changesOfDealer: 3,
  lastChange: 16,
  startingPoints: 2000,
  names: ["You", "Tomas", "Ondine", "Meilin"],
  totals: [2768, 1930, 1794, 1508],
  lines: [
    { hand: 1, prevailing: 0, dealer: 1, winner: 2, changes: [-64, -128, 320, -128] },
    { hand: 2, prevailing: 0, dealer: 2, winner: 2, changes: [-32, -32, 96, -32] },
    { hand: 3, prevailing: 0, dealer: 2, winner: null, changes: [0, 0, 0, 0] },
    { hand: 4, prevailing: 0, dealer: 2, winner: 3, changes: [-12, 20, -416, 408] },
    { hand: 5, prevailing: 0, dealer: 3, winner: 0, changes: [768, -70, -206, -492] },
  ],
  missing: false,
};

/** The first discard of a hand under classical rules, two of which may carry an Original Call. */
export function originalCall(now: number): TableModel {
  const set = new Set144();
  const model = waiting(now);
  const [own, right, opposite, left] = model.seats;
  const holding = set.tiles("2m 3m 4m 6p 7p 3s 3s 4s 5s 6s 9p 9p 9p");
  const drawn = set.tile("1z");
  return {
    ...model,
    title: ["Chinese Classical", "rated", "Standard 5 s + 20 s"],
    hand: 6,
    wallCount: 74,
    kongBoxCount: 15,
    match: MATCH,
    worth: { patterns: [], total: "20 points", mayWin: false, reason: "1 tile away from waiting." },
    lastDiscard: { place: 3, index: 0 },
    seats: [
      { ...own, points: 2768, deciding: true, clock: right.clock, holding, drawn, river: [], bonus: set.tiles("1f") },
      { ...right, points: 1930, deciding: false, clock: null, drawn: null },
      { ...opposite, points: 1794, river: set.river("9m") },
      { ...left, points: 1508, called: true, river: [{ tile: set.tile("2z"), claimed: false, called: true }] },
    ],
    prompt: {
      id: "p5",
      choices: [],
      discards: [...holding, drawn],
      calls: [drawn, ...holding.slice(0, 1)],
      answered: false,
    },
  };
}

/** A hand that its Original Call has frozen. */
export function frozen(now: number): TableModel {
  const model = originalCall(now);
  const [own, ...others] = model.seats;
  const drawn = own.drawn as TileId;
  return {
    ...model,
    seats: [{ ...own, called: true, river: [{ tile: kindNamed("8m") * 4, claimed: false, called: true }] }, ...others],
    prompt: { id: "p6", choices: [], discards: [drawn], calls: [], answered: false },
  };
}

/** The choice between a kong and going on, before the first discard. */
export function opening(now: number): TableModel {
  const set = new Set144();
  const model = originalCall(now);
  const [own, ...others] = model.seats;
  const holding = set.tiles("2m 2m 2m 2m 5s 5s 5s 5s 4p 6p 1z 3z 5z");
  return {
    ...model,
    lastDiscard: null,
    notice: "Before the first discard: kong, or continue?",
    seats: [
      { ...own, holding, drawn: null },
      ...(others.map((seat) => ({ ...seat, river: [], called: false })) as unknown as typeof others),
    ],
    prompt: {
      id: "p7",
      choices: [
        { id: "k1", action: { type: "kong", tiles: holding.slice(0, 4), concealed: true } },
        { id: "k2", action: { type: "kong", tiles: holding.slice(4, 8), concealed: true } },
        { id: "pass", action: { type: "pass", opening: true } },
      ],
      discards: [],
      calls: [],
      answered: false,
    },
  };
}

/** All four hands of a classical hand count: the worked example of the rules. */
export function fourHands(now: number): TableModel {
  const set = new Set144();
  const model = settled(now);
  const base = model.settlement as SettlementModel;
  const changes = [768, -70, -206, -492] as const;
  const wins = [
    {
      who: "You",
      tiles: set.tiles("5p 5p 5p 9p 9p 9p 7z"),
      winning: set.tile("7z"),
      melds: [set.set("pung", "5z", 1), set.set("claimed kong", "1s", 3)],
      bonus: set.tiles("1f"),
      patterns: [
        { name: "Winning", value: "10" },
        { name: "Pung of majors, concealed", value: "8" },
        { name: "Pung of simples, concealed", value: "4" },
        { name: "Kong of majors", value: "16" },
        { name: "Flowers and seasons", value: "4" },
        { name: "Dragon pung", value: "1 double" },
        { name: "Original Call", value: "1 double" },
      ],
      total: "48 × 2² = 192 points",
      payment: "",
    },
  ];
  const others = [
    {
      place: 1 as const,
      wind: 1 as const,
      who: "Tomas",
      tiles: set.tiles("3m 3m 3m 8s 8s 2p 4p 6p 6m 7m 1z 1z 9s"),
      melds: [],
      bonus: set.tiles("2f 3f"),
      patterns: [
        { name: "Pung of simples, concealed", value: "4" },
        { name: "Flowers and seasons", value: "8" },
        { name: "Seat wind", value: "1 double" },
      ],
      total: "23 × 2¹ = 46 points",
    },
    {
      place: 2 as const,
      wind: 2 as const,
      who: "Ondine",
      tiles: set.tiles("2s 3s 4s 6p 7p 2z 2z 1m 4m 4m"),
      melds: [set.set("pung", "8p", 0)],
      bonus: set.tiles("3g 2g"),
      patterns: [
        { name: "Pung of simples", value: "2" },
        { name: "Pair of the seat wind", value: "2" },
        { name: "Flowers and seasons", value: "8" },
      ],
      total: "12 points",
    },
    {
      place: 3 as const,
      wind: 0 as const,
      who: "Meilin",
      tiles: set.tiles("1m 2m 4m 7s 8s 9s 6z 6z 3z 2p 3p 5m 9m"),
      melds: [],
      bonus: [],
      patterns: [{ name: "Pair of dragons", value: "2" }],
      total: "2 points",
    },
  ];
  return {
    ...model,
    match: MATCH,
    title: ["Chinese Classical", "rated", "Standard 5 s + 20 s"],
    settlement: {
      ...base,
      sentence: "You win by self-draw",
      wins,
      others,
      payments: [
        { from: "Meilin", to: "You", how: "192, doubled for East", amount: 384 },
        { from: "Tomas", to: "You", how: "192", amount: 192 },
        { from: "Ondine", to: "You", how: "192", amount: 192 },
        { from: "Meilin", to: "Tomas", how: "46 − 2, doubled for East", amount: 88 },
        { from: "Meilin", to: "Ondine", how: "12 − 2, doubled for East", amount: 20 },
        { from: "Ondine", to: "Tomas", how: "46 − 12", amount: 34 },
      ],
      seats: base.seats.map((seat, place) => ({
        ...seat,
        wind: ((place + 1) % 4) as Wind,
        change: changes[place] ?? 0,
        pointsAfter: MATCH.totals[place] ?? 0,
        rating: null,
      })),
      readyByItself: true,
      readyBy: now + 12000,
    },
  };
}

/** The last hand of a match. */
export function matchOver(now: number): TableModel {
  const model = fourHands(now);
  const settlement = model.settlement as SettlementModel;
  const ended = (rank: number, name: string, points: number, before: number, after: number) => ({
    rank,
    name,
    points,
    own: name === "You",
    rating: { before: { value: before, provisional: false }, after: { value: after, provisional: name === "Meilin" } },
  });
  return {
    ...model,
    match: { ...MATCH, changesOfDealer: 16 },
    settlement: {
      ...settlement,
      seats: settlement.seats.map((seat) => ({ ...seat, ready: null })),
      standings: [
        ended(1, "You", 2768, 1502, 1541),
        ended(2, "Tomas", 1930, 1530, 1533),
        ended(3, "Ondine", 1794, 1561, 1544),
        ended(4, "Meilin", 1508, 1483, 1458),
      ],
      readyBy: null,
      over: true,
      note: "The match is over.",
    },
  };
}

/** Looking on at a table. */
export function watching(now: number): TableModel {
  const model = waiting(now);
  const [own, ...others] = model.seats;
  return { ...model, watching: true, seats: [{ ...own, name: "Ines", holding: 13 }, ...others] };
}

export const STATES = {
  claim,
  crowded,
  offers,
  waiting,
  settled,
  gathering,
  originalCall,
  frozen,
  opening,
  fourHands,
  matchOver,
  watching,
};
