/** What a player has chosen for this browser: colours, tile face, sound. */

import { FACES, type Face, showFace } from "./tiles/faces";

export type Scheme = "system" | "dark" | "light";

export interface Look {
  readonly scheme: Scheme;
  readonly face: Face;
  readonly sound: boolean;
  readonly sort: boolean;
}

const STORED = "eastwind.look";
const DEFAULT: Look = { scheme: "system", face: "classic", sound: true, sort: true };

/** The stored look; what is missing or unreadable falls back to the default, part by part. */
export function readLook(storage: Pick<Storage, "getItem">): Look {
  let stored: Partial<Record<keyof Look, unknown>> = {};
  try {
    const parsed: unknown = JSON.parse(storage.getItem(STORED) ?? "{}");
    if (parsed !== null && typeof parsed === "object") stored = parsed;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const { scheme, face, sound, sort } = stored;
  return {
    scheme: scheme === "dark" || scheme === "light" ? scheme : DEFAULT.scheme,
    face: typeof face === "string" && face in FACES ? (face as Face) : DEFAULT.face,
    sound: typeof sound === "boolean" ? sound : DEFAULT.sound,
    sort: typeof sort === "boolean" ? sort : DEFAULT.sort,
  };
}

export function writeLook(storage: Pick<Storage, "setItem">, look: Look): void {
  storage.setItem(STORED, JSON.stringify(look));
}

/** Makes the page look so. Resolves when the tiles are there. */
export async function applyLook(look: Look): Promise<void> {
  const { dataset } = document.documentElement;
  if (look.scheme === "system") delete dataset.scheme;
  else dataset.scheme = look.scheme;
  if (dataset.face !== look.face) await showFace(look.face);
}
