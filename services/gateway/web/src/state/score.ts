/** What hands are worth, in words, in the unit of their ruleset. */

import { type HandScore, type ScoreItem, Unit } from "../gen/eastwind/scoring/v1/score_pb";
import type { ItemModel } from "../model";
import { kindNamed, pluralName } from "../tiles/notation";
import { figure, timesDoubles } from "../words";
import type { RulesetFacts } from "./rulesets";

type CountedIn = RulesetFacts["unit"];

export function itemValue({ amount, unit }: ScoreItem): string {
  if (unit === Unit.LIMIT) return "limit";
  if (unit === Unit.DOUBLES) return `${figure(amount)} ${amount === 1 ? "double" : "doubles"}`;
  return figure(amount);
}

/** Every item as a line; several of the same are one line with their number. */
export function itemsOf(items: readonly ScoreItem[]): readonly ItemModel[] {
  const lines = new Map<string, { item: ScoreItem; times: number }>();
  for (const item of items) {
    const key = `${item.unit} ${item.name}`;
    const line = lines.get(key);
    if (line) lines.set(key, { item: { ...item, amount: line.item.amount + item.amount }, times: line.times + 1 });
    else lines.set(key, { item, times: 1 });
  }
  return [...lines.values()].map(({ item, times }) => ({
    name: itemName(item.name) + (times > 1 ? ` × ${times}` : ""),
    value: itemValue(item),
  }));
}

/** "open pung 4m" as people say it: "Open pung of 4 characters". */
function itemName(name: string): string {
  const said = name.replace(/ ([1-9][mps]|[1-7]z)$/, (_, kind: string) => ` of ${pluralName(kindNamed(kind))}`);
  return said.charAt(0).toUpperCase() + said.slice(1);
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
