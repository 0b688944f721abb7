/** What the page has to know of a ruleset beside its name. A ruleset that is not listed is taken for one like the first. */

export type WallEnd = "front" | "back" | "kong box";

export interface RulesetFacts {
  /** Tiles at the end of the wall that are kept for kongs (classical §2.2); 0 without a kong box. */
  readonly kongBox: number;
  readonly bonusFrom: WallEnd;
  readonly kongFrom: WallEnd;
  /** What a hand is counted in. */
  readonly unit: "faan" | "points";
  /** The change of the dealer that ends a match; null where every hand stands for itself. */
  readonly matchChanges: number | null;
  /** The next hand begins by itself when the time of the ready step is over; nobody loses the seat. */
  readonly readyByItself: boolean;
}

const HAND_BY_HAND: RulesetFacts = {
  kongBox: 0,
  bonusFrom: "back",
  kongFrom: "back",
  unit: "faan",
  matchChanges: null,
  readyByItself: false,
};

const FACTS: Readonly<Record<string, RulesetFacts>> = {
  classical: {
    kongBox: 16,
    bonusFrom: "front",
    kongFrom: "kong box",
    unit: "points",
    matchChanges: 16,
    readyByItself: true,
  },
};

/** The ruleset that is offered first. */
export const FIRST_RULESET = "hkos-3-v1";

export function factsOf(ruleset: string | undefined): RulesetFacts {
  return FACTS[ruleset ?? ""] ?? HAND_BY_HAND;
}
