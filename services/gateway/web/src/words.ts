/** Words and figures as players read them. */

import type { Choice, LogLine, MeldModel, Wind } from "./model";
import { kindOf, pluralName, runName, runRanks, shortName, type TileId } from "./tiles/notation";

export const WIND_NAMES = ["East", "South", "West", "North"] as const;

export function windLetter(wind: Wind): string {
  return WIND_NAMES[wind].charAt(0);
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** "1,502", with a real minus sign. */
export function figure(value: number): string {
  return (value < 0 ? "−" : "") + grouped.format(Math.abs(value));
}

/** "+8", "−24", "0". */
export function signed(value: number): string {
  return value > 0 ? `+${figure(value)}` : figure(value);
}

/** "Tomas's", "your". */
export function possessive(name: string): string {
  return name === "You" ? "your" : `${name}'s`;
}

/** What a choice takes: "5-6-7", "red dragons"; a win says what it is worth. */
export function choiceDetail({ action }: Choice): string {
  switch (action.type) {
    case "win":
      return action.worth;
    case "pass":
      return "";
    case "chow":
      return runRanks(action.tiles.map(kindOf));
    case "pung":
    case "kong":
      return action.tiles[0] === undefined ? "" : pluralName(kindOf(action.tiles[0]));
  }
}

const VERBS = { win: "Win", pass: "Pass", chow: "Chow", pung: "Pung", kong: "Kong" } as const;

export function choiceVerb({ action }: Choice): string {
  return action.type === "pass" && action.opening ? "Continue" : VERBS[action.type];
}

/** A choice in full, for a screen reader. */
export function choiceName(choice: Choice): string {
  const { action } = choice;
  if (action.type === "chow") return `Chow ${runName(action.tiles.map(kindOf))}`;
  if (action.type === "kong" && action.concealed) return `Concealed kong of ${choiceDetail(choice)}`;
  const detail = choiceDetail(choice);
  if (action.type === "win") return detail ? `Win, ${detail}` : "Win";
  return detail ? `${choiceVerb(choice)} of ${detail}` : choiceVerb(choice);
}

/** "pung of red dragons", "chow 3-4-5 characters", "concealed kong of 5 dots" */
export function meldWords(meld: Pick<MeldModel, "kind" | "tiles">): string {
  const kinds = meld.tiles.map(kindOf);
  if (meld.kind === "chow") return `chow ${runName(kinds)}`;
  return `${meld.kind} of ${kinds[0] === undefined ? "hidden tiles" : pluralName(kinds[0])}`;
}

/** "discard" for oneself, "discards" for others. */
export function verb(who: string, plain: string): string {
  return who === "You" ? plain : `${plain}s`;
}

export function discardWords(who: string, tile: TileId, originalCall = false): string {
  return `${verb(who, "discard")} ${shortName(kindOf(tile))}${originalCall ? " with an Original Call" : ""}`;
}

/** A log line as one sentence. */
export function sentence(line: LogLine): string {
  return line.who ? `${line.who} ${line.what}` : line.what;
}

/** "48 × 2³" */
export function timesDoubles(base: number, doubles: number): string {
  const raised = [...String(doubles)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return doubles === 0 ? figure(base) : `${figure(base)} × 2${raised}`;
}

/** "3 left", "1 left", "none left" */
export function unseenWords(unseen: number): string {
  return unseen === 0 ? "none left" : `${unseen} left`;
}
