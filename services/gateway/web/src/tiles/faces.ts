import classic from "../../tiles/classic.svg?url";
import contrast from "../../tiles/contrast.svg?url";
import numerals from "../../tiles/numerals.svg?url";

/** The faces a player may choose; each is one sprite with the same symbol names. */
export const FACES = { classic, numerals, contrast } as const;
export type Face = keyof typeof FACES;

const HOLDER_ID = "tile-sprite";

/** Puts the sprite of a face into the document, in place of the one before. Rejects when it cannot be fetched. */
export async function showFace(face: Face): Promise<void> {
  const answer = await fetch(FACES[face]);
  if (!answer.ok) throw new Error(`The tiles could not be loaded (${answer.status}). Reload the page.`);
  const parsed = new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
  const sprite = document.importNode(parsed.documentElement, true);
  sprite.id = HOLDER_ID;
  sprite.setAttribute("aria-hidden", "true");
  document.getElementById(HOLDER_ID)?.remove();
  document.body.prepend(sprite);
  document.documentElement.dataset.face = face;
}
