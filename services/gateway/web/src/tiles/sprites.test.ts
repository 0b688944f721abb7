import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { KINDS, notation } from "./notation";

for (const face of ["classic", "numerals", "contrast"]) {
  const sprite = readFileSync(new URL(`../../tiles/${face}.svg`, import.meta.url), "utf8");

  test(`${face} draws every kind and the bodies, and uses only shapes that it defines (C102)`, () => {
    const ids = new Set([...sprite.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
    const wanted = Array.from({ length: KINDS }, (_, kind) => notation(kind));
    for (const name of [...wanted, "body", "back", "body-side", "back-side"]) expect(ids).toContain(name);
    for (const [, used] of sprite.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(used);
  });

  test(`${face} is outlines only: no text, no font, no script, no address outside`, () => {
    expect(sprite).not.toMatch(/<text|font-family|<script|<image|href="(?!#)/);
    expect(sprite.length).toBeLessThan(150_000);
  });
}
