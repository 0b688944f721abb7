/** Tiles as numbers: ids 0..143 tell the copies apart, kinds 0..41 what is printed on them. */

export type TileId = number;
export type Kind = number;

const SUITS = ["characters", "dots", "bamboo"] as const;
const WINDS = ["east", "south", "west", "north"] as const;
const DRAGONS = ["red", "green", "white"] as const;
const FLOWERS = ["plum", "orchid", "chrysanthemum", "bamboo"] as const;
const SEASONS = ["spring", "summer", "autumn", "winter"] as const;

export const KINDS = 42;
const FIRST_HONOUR = 27;
const FIRST_DRAGON = 31;
const FIRST_FLOWER = 34;
const FIRST_SEASON = 38;
const FIRST_BONUS_TILE: TileId = 136;

function checked(kind: Kind): Kind {
  if (!Number.isInteger(kind) || kind < 0 || kind >= KINDS) {
    throw new RangeError(`no such kind of tile: ${kind}`);
  }
  return kind;
}

/** The kind of a tile id: four copies of each regular kind, one of each bonus tile. */
export function kindOf(tile: TileId): Kind {
  return checked(tile < FIRST_BONUS_TILE ? Math.floor(tile / 4) : FIRST_FLOWER + tile - FIRST_BONUS_TILE);
}

/** `1m` ... `9s`, `1z` ... `7z`, `1f` ... `4g`: the name of the symbol in the sprite. */
export function notation(kind: Kind): string {
  checked(kind);
  if (kind < FIRST_HONOUR) return `${(kind % 9) + 1}${"mps"[Math.floor(kind / 9)]}`;
  if (kind < FIRST_FLOWER) return `${kind - FIRST_HONOUR + 1}z`;
  return kind < FIRST_SEASON ? `${kind - FIRST_FLOWER + 1}f` : `${kind - FIRST_SEASON + 1}g`;
}

/** The kind that a notation such as `5p` stands for. */
export function kindNamed(text: string): Kind {
  for (let kind = 0; kind < KINDS; kind++) if (notation(kind) === text) return kind;
  throw new RangeError(`no such tile: ${text}`);
}

export function isBonus(kind: Kind): boolean {
  return checked(kind) >= FIRST_FLOWER;
}

function honourName(kind: Kind): string {
  return kind < FIRST_DRAGON ? `${WINDS[kind - FIRST_HONOUR]} wind` : `${DRAGONS[kind - FIRST_DRAGON]} dragon`;
}

function bonusName(kind: Kind): string {
  return kind < FIRST_SEASON ? `flower ${kind - FIRST_FLOWER + 1}` : `season ${kind - FIRST_SEASON + 1}`;
}

/** As it is read out: "5 of dots", "red dragon", "flower 1, plum". */
export function spokenName(kind: Kind): string {
  checked(kind);
  if (kind < FIRST_HONOUR) return `${(kind % 9) + 1} of ${SUITS[Math.floor(kind / 9)]}`;
  if (kind < FIRST_FLOWER) return honourName(kind);
  const picture = kind < FIRST_SEASON ? FLOWERS[kind - FIRST_FLOWER] : SEASONS[kind - FIRST_SEASON];
  return `${bonusName(kind)}, ${picture}`;
}

/** As it stands in a sentence: "5 dots", "red dragon", "flower 1". */
export function shortName(kind: Kind): string {
  checked(kind);
  if (kind < FIRST_HONOUR) return `${(kind % 9) + 1} ${SUITS[Math.floor(kind / 9)]}`;
  return kind < FIRST_FLOWER ? honourName(kind) : bonusName(kind);
}

/** Several of one kind: "5 dots", "red dragons". */
export function pluralName(kind: Kind): string {
  const name = shortName(kind);
  return kind >= FIRST_HONOUR && kind < FIRST_FLOWER ? `${name}s` : name;
}

/** The ranks of a run, lowest first: "5-6-7". */
export function runRanks(kinds: readonly Kind[]): string {
  return [...kinds]
    .sort((a, b) => a - b)
    .map((kind) => (checked(kind) % 9) + 1)
    .join("-");
}

/** A run in words: "5-6-7 dots". */
export function runName(kinds: readonly Kind[]): string {
  return `${runRanks(kinds)} ${SUITS[Math.floor((kinds[0] ?? 0) / 9)]}`;
}

/** Order of a sorted holding: characters, dots, bamboo, honours, copies of a kind together. */
export function byKind(a: TileId, b: TileId): number {
  return a - b;
}
