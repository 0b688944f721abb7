/** What hands are worth, in words, in the unit of their ruleset. */

import { type HandScore, type ScoreItem, Unit } from "../gen/eastwind/scoring/v1/score_pb";
import type { ItemModel } from "../model";
import { figure, timesDoubles } from "../words";
import type { RulesetFacts } from "./rulesets";

type CountedIn = RulesetFacts["unit"];

export function itemValue({ amount, unit }: ScoreItem): string {
  if (unit === Unit.LIMIT) return "limit";
  if (unit === Unit.DOUBLES) return `${figure(amount)} ${amount === 1 ? "double" : "doubles"}`;
  return figure(amount);
}

export function itemsOf(items: readonly ScoreItem[]): readonly ItemModel[] {
  return items.map((item) => ({ name: item.name, value: itemValue(item) }));
}

function sumOf(items: readonly ScoreItem[], wanted: Unit): number {
  return items.reduce((sum, { amount, unit }) => (unit === wanted ? sum + amount : sum), 0);
}

/** Base × 2^doubles of some items (classical §2.7), not capped. */
export function pointsOf(items: readonly ScoreItem[]): number {
  return sumOf(items, Unit.POINTS) * 2 ** sumOf(items, Unit.DOUBLES);
}

/** "3 faan", "384 points" */
export function worthWords({ value }: HandScore, unit: CountedIn): string {
  return `${figure(value)} ${unit}`;
}

/** How the value came about: "3 faan", "48 × 2³ = 384 points", "Limit, 1,000 points". */
export function sumWords(score: HandScore, unit: CountedIn): string {
  const worth = worthWords(score, unit);
  if (unit === "faan") return worth;
  if (score.limit !== undefined) return `Limit, ${worth}`;
  const doubles = sumOf(score.items, Unit.DOUBLES);
  const product = timesDoubles(sumOf(score.items, Unit.POINTS), doubles);
  if (score.total > score.value) return `${product} = ${figure(score.total)}, limit ${worth}`;
  return doubles > 0 ? `${product} = ${worth}` : worth;
}
