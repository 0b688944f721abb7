import type { HandScore, ScoreItem } from "../gen/eastwind/scoring/v1/score_pb";
import { Unit } from "../gen/eastwind/scoring/v1/score_pb";
import type { TableView } from "../gen/eastwind/table/v1/view_pb";
import { TablePhase } from "../gen/eastwind/table/v1/view_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import { PLACES, type SettledSeat, type SettlementModel, type WinModel } from "../model";
import { figure, possessive } from "../words";
import { drawnSentence, winWords } from "./log";
import { meldModel } from "./melds";
import { nameOf, placeOf, seatAt, windOf } from "./seats";
import type { TableState } from "./table";

const UNITS: Partial<Record<Unit, string>> = {
  [Unit.FAAN]: "faan",
  [Unit.POINTS]: "points",
  [Unit.DOUBLES]: "doubles",
};

export function itemValue({ amount, unit }: ScoreItem): string {
  if (unit === Unit.LIMIT) return "limit";
  return unit === Unit.DOUBLES ? `×2${amount > 1 ? ` ×${amount}` : ""}` : figure(amount);
}

/** "3 faan": the value of a score with the unit of its ruleset. */
export function worthWords(score: HandScore): string {
  const unit = score.items.find((item) => item.unit !== Unit.LIMIT)?.unit;
  return `${figure(score.value)} ${UNITS[unit ?? Unit.FAAN] ?? "faan"}`;
}

/** The settlement on the screen; null while none is to be shown. */
export function settlementModel(state: TableState): SettlementModel | null {
  const { view } = state;
  const { settled } = view;
  if (!settled) return null;
  const closed = view.phase === TablePhase.CLOSED;
  const readyStep = view.phase === TablePhase.READY;
  return {
    id: settled.recordId || `${view.tableId}/${state.played.hand}`,
    sentence: sentenceOf(view),
    wins: winsOf(view),
    seats: PLACES.map((place): SettledSeat => {
      const seat = seatAt(view, place);
      const step = seat.player && state.steps.get(seat.player.accountId);
      const known = seat.player && state.ratings.get(seat.player.accountId);
      const rating = step ? step : view.unitRated && known ? { before: known, after: null } : null;
      return {
        place,
        wind: windOf(seat.seat, state.played.dealer),
        name: nameOf(view, seat.seat),
        change: settled.changes[seat.seat] ?? 0,
        pointsAfter: seat.points,
        rating,
        ready: readyStep && seat.player ? seat.ready || (place === 0 && state.readySent !== null) : null,
      };
    }),
    wall: state.wall,
    readyBy: readyStep && view.readyDeadlineMs !== undefined ? Number(view.readyDeadlineMs) : null,
    over: closed,
    note: closed ? closedWords(view.closeReason) : "",
  };
}

const CLOSED: Partial<Record<Reason, string>> = {
  [Reason.MATCH_OVER]: "The match is over.",
  [Reason.EXPIRED]: "The table was idle for too long and is closed.",
  [Reason.NOT_READY]: "A player was not ready in time, so the table is closed.",
  [Reason.LEFT]: "A player left, so the table is closed.",
};

/** Why a table is closed, for who sits there. */
export function closedWords(reason: Reason): string {
  return CLOSED[reason] ?? "The table is closed.";
}

function sentenceOf(view: TableView): string {
  const { won, drawn } = view;
  if (won) {
    const who = nameOf(view, won.seat);
    return `${who} ${winWords(who, won.method, won.source === undefined ? "" : nameOf(view, won.source))}`;
  }
  return drawn ? drawnSentence(drawn.cause) : "The hand is settled";
}

function winsOf(view: TableView): readonly WinModel[] {
  const { won, settled } = view;
  if (!won || !settled) return [];
  const seat = view.seats[won.seat];
  const score = settled.scores[won.seat]?.score;
  if (!seat) return [];
  return [
    {
      who: nameOf(view, won.seat),
      tiles: won.concealed,
      winning: won.tile,
      // As the winner sees them: the claimed tile of a meld lies on the side of its source.
      melds: seat.melds.map((meld) => {
        const model = meldModel(view, meld);
        const turned = (4 - placeOf(view, won.seat)) % 4;
        if (!model.claimed) return model;
        const from = ((model.claimed.from + turned) % 4) as 0 | 1 | 2 | 3;
        return { ...model, claimed: { ...model.claimed, from } };
      }),
      bonus: seat.bonus,
      patterns: score ? score.items.map((item) => ({ name: item.name, value: itemValue(item) })) : [],
      total: score ? worthWords(score) : "",
      payment: paymentWords(view),
    },
  ];
}

/** "8 points from Tomas", "4 points from each", "12 points to Ondine" is never said: the winner's side is told. */
function paymentWords(view: TableView): string {
  const payments = view.settled?.payments ?? [];
  const first = payments[0];
  if (!first) return "";
  const points = `${figure(first.amount)} ${first.amount === 1 ? "point" : "points"}`;
  if (payments.length === 1) {
    const payer = nameOf(view, first.payer);
    return `${points} from ${payer === "You" ? "you" : payer}`;
  }
  if (payments.every(({ amount, payee }) => amount === first.amount && payee === first.payee)) {
    return `${points} from each`;
  }
  return payments
    .map(({ payer, payee, amount }) => {
      const who = nameOf(view, payer);
      return `${possessive(who)} ${figure(amount)} to ${nameOf(view, payee)}`;
    })
    .join(", ");
}
