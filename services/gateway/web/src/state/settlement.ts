import type { SeatView, TableView } from "../gen/eastwind/table/v1/view_pb";
import { TablePhase } from "../gen/eastwind/table/v1/view_pb";
import { Reason } from "../gen/eastwind/type/v1/reason_pb";
import {
  type MeldModel,
  type OtherHandModel,
  type PaymentModel,
  PLACES,
  type SettledSeat,
  type SettlementModel,
  type StandingModel,
  type WinModel,
} from "../model";
import { figure, possessive } from "../words";
import { drawnSentence, winWords } from "./log";
import { meldModel } from "./melds";
import { factsOf } from "./rulesets";
import { itemsOf, sumWords } from "./score";
import { nameOf, placeOf, seatAt, shownDealer, windOf } from "./seats";
import type { TableState } from "./table";

/** The settlement on the screen; null while none is to be shown. */
export function settlementModel(state: TableState): SettlementModel | null {
  const { view } = state;
  const { settled } = view;
  if (!settled) return null;
  const { matchChanges, readyByItself } = factsOf(view.settings?.ruleset);
  const closed = view.phase === TablePhase.CLOSED;
  const readyStep = view.phase === TablePhase.READY;
  return {
    id: settled.recordId || `${view.tableId}/${view.hand}`,
    sentence: sentenceOf(view),
    wins: winsOf(view),
    others: othersOf(view),
    payments: paymentsOf(view),
    seats: PLACES.map((place): SettledSeat => {
      const seat = seatAt(view, place);
      return {
        place,
        wind: windOf(seat.seat, shownDealer(view)),
        name: nameOf(view, seat.seat),
        change: settled.changes[seat.seat] ?? 0,
        pointsAfter: seat.points,
        // In a match the ratings change with its end.
        rating: matchChanges === null ? ratingOf(state, seat) : null,
        ready: readyStep && seat.player ? seat.ready || (place === 0 && state.readySent !== null) : null,
      };
    }),
    wall: state.wall,
    readyBy: readyStep && view.readyDeadlineMs !== undefined ? Number(view.readyDeadlineMs) : null,
    readyByItself,
    standings: closed && view.closeReason === Reason.MATCH_OVER ? standingsOf(state) : null,
    over: closed,
    note: closed ? closedWords(view.closeReason) : "",
  };
}

function ratingOf({ view, steps, ratings }: TableState, { player }: SeatView): SettledSeat["rating"] {
  const step = player && steps.get(player.accountId);
  const known = player && ratings.get(player.accountId);
  return step ?? (view.unitRated && known ? { before: known, after: null } : null);
}

/** The final points from the most down; who has as many shares the better place. */
function standingsOf(state: TableState): readonly StandingModel[] {
  const { view } = state;
  const points = view.seats.map((seat) => seat.points);
  return [...view.seats]
    .sort((a, b) => b.points - a.points)
    .map((seat) => ({
      rank: 1 + points.filter((other) => other > seat.points).length,
      name: nameOf(view, seat.seat),
      points: seat.points,
      own: seat.seat === view.viewer,
      rating: ratingOf(state, seat),
    }));
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
  const { unit } = factsOf(view.settings?.ruleset);
  if (!seat) return [];
  return [
    {
      who: nameOf(view, won.seat),
      tiles: won.concealed,
      winning: won.tile,
      melds: meldsOf(view, seat),
      bonus: seat.bonus,
      patterns: itemsOf(score?.items ?? []),
      total: score ? sumWords(score, unit) : "",
      payment: paymentWords(view),
    },
  ];
}

/** As their owner sees them: the claimed tile of a meld lies on the side of its source. */
function meldsOf(view: TableView, seat: SeatView): readonly MeldModel[] {
  const turned = (4 - placeOf(view, seat.seat)) % 4;
  return seat.melds.map((meld) => {
    const model = meldModel(view, meld);
    if (!model.claimed) return model;
    const from = ((model.claimed.from + turned) % 4) as 0 | 1 | 2 | 3;
    return { ...model, claimed: { ...model.claimed, from } };
  });
}

/** The hands that are counted beside the winner's (classical §2.10), in the order of play after him. */
function othersOf(view: TableView): readonly OtherHandModel[] {
  const { settled } = view;
  const winner = settled?.winner;
  if (!settled || winner === undefined) return [];
  const { unit } = factsOf(view.settings?.ruleset);
  return [1, 2, 3].flatMap((distance) => {
    const seat = view.seats[(winner + distance) % view.seats.length];
    const score = seat && settled.scores[seat.seat]?.score;
    if (!score) return [];
    return [
      {
        place: placeOf(view, seat.seat),
        wind: windOf(seat.seat, shownDealer(view)),
        who: nameOf(view, seat.seat),
        tiles: seat.tiles,
        melds: meldsOf(view, seat),
        bonus: seat.bonus,
        patterns: itemsOf(score.items),
        total: sumWords(score, unit),
      },
    ];
  });
}

/** Every payment with how it came about: a value, or a difference of two, doubled where East is part of it. */
function paymentsOf(view: TableView): readonly PaymentModel[] {
  const { settled } = view;
  if (!settled || factsOf(view.settings?.ruleset).unit !== "points") return [];
  const value = (seat: number) => settled.scores[seat]?.score?.value ?? 0;
  const east = shownDealer(view);
  return settled.payments.map(({ payer, payee, amount }) => {
    const plain = payee === settled.winner ? figure(value(payee)) : `${figure(value(payee))} − ${figure(value(payer))}`;
    const how = payer === east || payee === east ? `${plain}, doubled for East` : plain;
    return { from: nameOf(view, payer), to: nameOf(view, payee), how, amount };
  });
}

/** "8 points from Tomas", "4 points from each", "12 points to Ondine" is never said: the winner's side is told. */
function paymentWords(view: TableView): string {
  const payments = view.settled?.payments ?? [];
  const winner = view.settled?.winner;
  // Where the others pay each other as well, every payment is told on its own.
  if (payments.some(({ payee }) => payee !== winner)) return "";
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
