import { expect, test } from "vitest";
import { kindNamed, type TileId } from "./tiles/notation";
import {
  choiceDetail,
  choiceName,
  discardWords,
  figure,
  meldWords,
  sentence,
  signed,
  unseenWords,
  verb,
} from "./words";

const tiles = (text: string): TileId[] => text.split(" ").map((name) => kindNamed(name) * 4);

test("numbers are grouped and have a real minus sign", () => {
  expect(figure(1502)).toBe("1,502");
  expect([8, 0, -24].map(signed)).toEqual(["+8", "0", "−24"]);
  expect(figure(-1024)).toBe("−1,024");
});

test("log lines are sentences in words", () => {
  expect(sentence({ id: "1", who: "Tomas", what: discardWords("Tomas", kindNamed("5p") * 4) })).toBe(
    "Tomas discards 5 dots",
  );
  expect(sentence({ id: "2", who: "You", what: discardWords("You", kindNamed("1z") * 4) })).toBe(
    "You discard east wind",
  );
  expect(verb("You", "win")).toBe("win");
  expect(verb("Ines", "win")).toBe("wins");
});

test("melds are named by what they are made of", () => {
  expect(meldWords({ kind: "pung", tiles: tiles("5z 5z 5z") })).toBe("pung of red dragons");
  expect(meldWords({ kind: "chow", tiles: tiles("3m 4m 5m") })).toBe("chow 3-4-5 characters");
  expect(meldWords({ kind: "concealed kong", tiles: tiles("9s 9s 9s 9s") })).toBe("concealed kong of 9 bamboo");
});

test("choices say what they take, a win what it is worth", () => {
  expect(choiceDetail({ id: "c", action: { type: "chow", tiles: tiles("5p 6p 7p") } })).toBe("5-6-7");
  expect(choiceDetail({ id: "w", action: { type: "win", worth: "3 faan" } })).toBe("3 faan");
  expect(choiceName({ id: "k", action: { type: "kong", tiles: tiles("2m 2m 2m 2m"), concealed: true } })).toBe(
    "Concealed kong of 2 characters",
  );
  expect(choiceName({ id: "p", action: { type: "pass" } })).toBe("Pass");
});

test("unseen copies in words", () => {
  expect([0, 1, 3].map(unseenWords)).toEqual(["none left", "1 left", "3 left"]);
});
