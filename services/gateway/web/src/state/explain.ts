/** What the own hand is worth and waits for: the question to the scoring service, and its answer in words. */

import { create } from "@bufbuild/protobuf";
import { type HandScore, HoldingSchema } from "../gen/eastwind/scoring/v1/score_pb";
import {
  type ExplainHandRequest,
  ExplainHandRequestSchema,
  type ExplainHandResponse,
} from "../gen/eastwind/scoring/v1/scoring_service_pb";
import { TablePhase, type TableView } from "../gen/eastwind/table/v1/view_pb";
import { ActionType } from "../gen/eastwind/type/v1/action_pb";
import type { WaitModel, WorthModel } from "../model";
import { kindOf } from "../tiles/notation";
import { figure } from "../words";
import { factsOf } from "./rulesets";
import { itemsOf, pointsOf, sumWords } from "./score";
import { shownDealer, shownPrevailing, windOf } from "./seats";

const REGULAR_KINDS = 34;
const COPIES = 4;

/** For each of the 34 kinds how many copies the viewer has not seen. */
export function unseenOf(view: TableView): number[] {
  const unseen = Array.from({ length: REGULAR_KINDS }, () => COPIES);
  const see = (tile: number) => {
    const kind = kindOf(tile);
    if (kind < REGULAR_KINDS) unseen[kind] = (unseen[kind] ?? 0) - 1;
  };
  for (const seat of view.seats) {
    seat.tiles.forEach(see);
    for (const meld of seat.melds) meld.tiles.forEach(see);
    for (const { tile, claimedBy } of seat.river) if (claimedBy === undefined) see(tile);
  }
  return unseen;
}

/** The question about the viewer's hand, the drawn tile left out; null when there is none to ask about. */
export function question(view: TableView): ExplainHandRequest | null {
  const seat = view.viewer === undefined ? undefined : view.seats[view.viewer];
  if (!seat || view.phase !== TablePhase.PLAYING || !view.settings) return null;
  const concealed = seat.tiles.filter((tile) => tile !== seat.drawn).map(kindOf);
  if (concealed.length % 3 === 0 || concealed.some((kind) => kind >= REGULAR_KINDS)) return null;
  return create(ExplainHandRequestSchema, {
    ruleset: view.settings.ruleset,
    seatWind: windOf(seat.seat, shownDealer(view)),
    prevailingWind: shownPrevailing(view),
    holding: create(HoldingSchema, { concealed, melds: seat.melds, bonus: seat.bonus.map(kindOf) }),
    unseen: unseenOf(view),
  });
}

/** Two questions with the same key have the same answer, up to the number of unseen tiles, which the client counts. */
export function questionKey(asked: ExplainHandRequest): string {
  const { holding } = asked;
  const melds = holding?.melds.map(({ kind, tiles }) => `${kind}:${tiles.join()}`).join(";");
  return [asked.ruleset, asked.seatWind, asked.prevailingWind, holding?.concealed.join(), melds, holding?.bonus].join(
    "|",
  );
}

function better(a: HandScore | undefined, b: HandScore | undefined): HandScore | undefined {
  if (!a || !b) return a ?? b;
  return b.total > a.total ? b : a;
}

/** What the hand is worth as it stands; a win that is on offer says so itself. */
export function worthOf(view: TableView, answer: ExplainHandResponse | null): WorthModel | null {
  const minimum = answer?.minimum ?? 0;
  const { unit } = factsOf(view.settings?.ruleset);
  const offered = view.decision?.options.find(({ action }) => action?.type === ActionType.WIN)?.score;
  if (offered) {
    const total = minimum > 0 ? `${figure(offered.value)} of ${figure(minimum)} ${unit}` : sumWords(offered, unit);
    return { patterns: itemsOf(offered.items), total, mayWin: true, reason: "" };
  }
  if (!answer) return null;
  const scale = (value: number) =>
    minimum > 0 ? `${figure(value)} of ${figure(minimum)} ${unit}` : `${figure(value)} ${unit}`;
  const onDiscard = answer.waits.map((wait) => wait.onDiscard).reduce(better, undefined);
  const onSelfDraw = answer.waits.map((wait) => wait.onSelfDraw).reduce(better, undefined);
  if (answer.waits.length > 0 && onDiscard) {
    const short = minimum - onDiscard.total;
    return {
      patterns: itemsOf(onDiscard.items),
      total: minimum > 0 ? scale(onDiscard.value) : sumWords(onDiscard, unit),
      mayWin: onDiscard.legal,
      reason: onDiscard.legal
        ? ""
        : onSelfDraw?.legal
          ? "By self-draw only: a discard is not worth enough."
          : `${figure(short)} ${unit} short on every tile that it waits for.`,
    };
  }
  const sum =
    unit === "faan" ? answer.certain.reduce((total, { amount }) => total + amount, 0) : pointsOf(answer.certain);
  const away = answer.distance;
  return {
    patterns: itemsOf(answer.certain),
    total: scale(sum),
    mayWin: false,
    reason: away > 0 ? `${figure(away)} ${away === 1 ? "tile" : "tiles"} away from waiting.` : "",
  };
}

export function waitsOf(view: TableView, answer: ExplainHandResponse | null): readonly WaitModel[] {
  const unseen = unseenOf(view);
  return (answer?.waits ?? []).map(({ kind, onDiscard, onSelfDraw }) => ({
    kind,
    unseen: Math.max(0, unseen[kind] ?? 0),
    tooLow: !onDiscard?.legal && !onSelfDraw?.legal,
  }));
}
