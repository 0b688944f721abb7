/**
 * One's own part in the wall, and the check of a finished one: the seal, the four numbers, the
 * shuffle, and every tile of which one knows the place.
 */

import type { TileId } from "./tiles/notation";

export const ALGORITHM = "eastwind-wall-1";
export const SECRET_BYTES = 32;
const TILES = 144;
const SEATS = 4;
const DEALT = 13;
const BLOCK_BYTES = 32;

type Bytes = Uint8Array<ArrayBuffer>;

/** A copy that is sure to stand on an ArrayBuffer, as the browser's cryptography wants it. */
function plain(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}

/** Whether this page may use the browser's cryptography: it is missing on plain HTTP from another machine. */
export function canSeal(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}

export function makeNonce(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
}

/** The seal of a number. */
export async function seal(secret: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", plain(secret)));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

export function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Throws RangeError for a text that is no hexadecimal number of whole bytes. */
export function fromHex(text: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/.test(text)) throw new RangeError("not hexadecimal");
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function framed(...fields: readonly (string | Uint8Array)[]): Bytes {
  const raw = fields.map((field) => (typeof field === "string" ? new TextEncoder().encode(field) : field));
  const out = new Uint8Array(raw.reduce((sum, field) => sum + 4 + field.length, 0));
  const view = new DataView(out.buffer);
  let at = 0;
  for (const field of raw) {
    view.setUint32(at, field.length);
    out.set(field, at + 4);
    at += 4 + field.length;
  }
  return out;
}

async function hmac(key: Uint8Array, message: Bytes): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", plain(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, message));
}

/** The tiles in the order that a seed decides; place 0 is the front. */
async function shuffle(seed: Uint8Array): Promise<TileId[]> {
  const tiles = Array.from({ length: TILES }, (_, tile) => tile);
  let block = new Uint8Array();
  let counter = 0;
  let at = BLOCK_BYTES;
  const next = async (): Promise<number> => {
    if (at === BLOCK_BYTES) {
      const count = new Uint8Array(8);
      new DataView(count.buffer).setUint32(4, counter);
      counter += 1;
      block = plain(await hmac(seed, count));
      at = 0;
    }
    return block[at++] as number;
  };
  for (let place = TILES - 1; place > 0; place--) {
    const limit = 256 - (256 % (place + 1));
    let value = await next();
    while (value >= limit) value = await next();
    const other = value % (place + 1);
    [tiles[place], tiles[other]] = [tiles[other] as TileId, tiles[place] as TileId];
  }
  return tiles;
}

/** What the server lays open after a hand. */
export interface OpenedWall {
  readonly algorithm: string;
  readonly tableId: string;
  readonly hand: number;
  readonly ruleset: string;
  readonly seed: Uint8Array;
  /** By seat; empty where none was revealed. */
  readonly nonces: readonly Uint8Array[];
  readonly commitments: readonly Uint8Array[];
}

/** The wall that seed and numbers decide. Throws for an algorithm that this client does not know. */
export async function buildWall(opened: OpenedWall): Promise<TileId[]> {
  if (opened.algorithm !== ALGORITHM) throw new RangeError(`unknown wall algorithm ${opened.algorithm}`);
  const parts = opened.nonces.map((nonce, seat) =>
    nonce.length > 0 ? nonce : (opened.commitments[seat] as Uint8Array),
  );
  const transcript = framed(
    ALGORITHM,
    opened.tableId,
    String(opened.hand),
    opened.ruleset,
    await seal(opened.seed),
    ...opened.commitments,
    ...parts,
  );
  return shuffle(await hmac(opened.seed, transcript));
}

/** A draw that one has seen happen, and the tile if it was one's own or became public. */
export interface SeenDraw {
  readonly from: "front" | "back" | "kong box";
  readonly tile: TileId | null;
}

/** What one has seen of a hand, to hold the opened wall against. */
export interface Witness {
  /** The server's seal as it was published before the hand. */
  readonly seal: Uint8Array;
  /** One's own seat, the number that one committed to, if one did, and the tiles that one was dealt. */
  readonly seat: number | null;
  readonly nonce: Uint8Array | null;
  readonly dealer: number;
  readonly dealt: readonly TileId[];
  /** How many tiles at the end of the sequence are a kong box; 0 without one. */
  readonly kongBox: number;
  /** All draws in order, if the hand was watched from its deal. */
  readonly draws: readonly SeenDraw[];
}

/** Whether everything that the witness knows agrees with the opened wall. */
export async function wallHolds(opened: OpenedWall, witness: Witness): Promise<boolean> {
  const { nonces, commitments, seed } = opened;
  if (nonces.length !== SEATS || commitments.length !== SEATS || seed.length !== SECRET_BYTES) return false;
  if (!sameBytes(await seal(seed), witness.seal)) return false;
  for (let seat = 0; seat < SEATS; seat++) {
    const nonce = nonces[seat] as Uint8Array;
    if (nonce.length > 0 && !sameBytes(await seal(nonce), commitments[seat] as Uint8Array)) return false;
  }
  if (witness.seat !== null && witness.nonce !== null) {
    if (!sameBytes(nonces[witness.seat] as Uint8Array, witness.nonce)) return false;
  }
  const wall = await buildWall(opened);
  if (witness.seat !== null && witness.dealt.length > 0) {
    const place = ((witness.seat - witness.dealer + SEATS) % SEATS) * DEALT;
    const dealt = wall.slice(place, place + DEALT).sort((a, b) => a - b);
    if (dealt.some((tile, index) => tile !== witness.dealt[index])) return false;
  }
  const live = TILES - witness.kongBox;
  const next = { front: SEATS * DEALT, back: live - 1, "kong box": live };
  for (const { from, tile } of witness.draws) {
    const drawn = wall[next[from]];
    next[from] += from === "back" ? -1 : 1;
    if (tile !== null && tile !== drawn) return false;
  }
  return true;
}
