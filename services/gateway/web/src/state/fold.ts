/**
 * What every event does to a view. The server gives the same view when asked for it whole; `fold.test.ts` holds the two
 * against each other.
 */

import { create } from "@bufbuild/protobuf";
import { WinMethod } from "../gen/eastwind/scoring/v1/score_pb";
import type { KongDeclared, TableEvent } from "../gen/eastwind/table/v1/event_pb";
import {
  DrawSource,
  type HandSettled,
  type HandStarted,
  type HandWon,
  type MeldClaimed,
  type TileDrawn,
} from "../gen/eastwind/table/v1/event_pb";
import { RiverTileSchema, type SeatView, TablePhase, type TableView } from "../gen/eastwind/table/v1/view_pb";
import { BotLevel, Speed } from "../gen/eastwind/type/v1/settings_pb";
import { type Meld, MeldKind } from "../gen/eastwind/type/v1/tile_pb";
import { kindOf, type TileId } from "../tiles/notation";
import { factsOf } from "./rulesets";

const SEATS = 4;
const DEALT = 13;
const TILES = 144;
const FIRST_BONUS: TileId = 136;

const RESERVES_MS: Record<Speed, number> = {
  [Speed.UNSPECIFIED]: 0,
  [Speed.BULLET]: 5_000,
  [Speed.BLITZ]: 10_000,
  [Speed.STANDARD]: 20_000,
  [Speed.RELAXED]: 60_000,
  [Speed.UNTIMED]: 0,
};

/** Changes `view` by what its viewer was told. An event of a later server that is not known changes nothing. */
export function applyEvent(view: TableView, { event }: TableEvent): void {
  switch (event.case) {
    case "seatTaken": {
      const seat = seatOf(view, event.value.seat);
      if (event.value.player) seat.player = event.value.player;
      seat.points = view.startingPoints;
      seat.leaving = false;
      seat.reserveMs = RESERVES_MS[view.settings?.speed ?? Speed.UNSPECIFIED] ?? 0;
      return;
    }
    case "seatReleased":
      return releaseSeat(view, event.value.seat);
    case "seatLeaving":
      seatOf(view, event.value.seat).leaving = true;
      return;
    case "seatReturned":
      seatOf(view, event.value.seat).leaving = false;
      return;
    case "nonceCommitted":
      seatOf(view, event.value.seat).nonceCommitment = event.value.commitment;
      return;
    case "readyStepOpened":
      view.phase = TablePhase.READY;
      view.commitment = event.value.commitment;
      setOptional(view, "readyDeadlineMs", event.value.deadlineMs);
      for (const seat of view.seats) seat.ready = false;
      return;
    case "seatReady": {
      const seat = seatOf(view, event.value.seat);
      seat.ready = true;
      // The number that was sealed before is revealed; what counts from here on is the seal of the next.
      seat.nonceCommitment = event.value.nextCommitment;
      return;
    }
    case "handStarted":
      return startHand(view, event.value);
    case "tilesDealt":
      view.wallCount -= SEATS * DEALT;
      view.seats.forEach((seat, number) => {
        seat.tileCount = event.value.counts[number] ?? DEALT;
        seat.tiles = sorted(event.value.hands[number]?.tiles ?? []);
      });
      return;
    case "tileDrawn":
      return drawTile(view, event.value);
    case "bonusExposed": {
      const seat = seatOf(view, event.value.seat);
      seat.bonus.push(event.value.tile);
      seat.tileCount -= 1;
      seat.tiles = seat.tiles.filter((tile) => tile !== event.value.tile);
      return;
    }
    case "tileDiscarded": {
      const { seat: number, tile, originalCall } = event.value;
      const seat = seatOf(view, number);
      remove(seat, [tile]);
      seat.river.push(create(RiverTileSchema, { tile, originalCall }));
      seat.originalCall ||= originalCall;
      delete seat.drawn;
      view.lastDiscard = tile;
      view.lastDiscardSeat = number;
      return;
    }
    case "meldClaimed":
      return claimMeld(view, event.value);
    case "kongDeclared":
      view.pendingKong = event.value;
      return;
    case "kongCompleted":
      return completeKong(view, event.value.seat, event.value.meld);
    case "handWon":
      return winHand(view, event.value);
    case "handDrawn":
      clearDiscard(view);
      view.drawn = event.value;
      return;
    case "handSettled":
      return settleHand(view, event.value);
    case "seatAnswered":
    case "seatTimedOut":
      seatOf(view, event.value.seat).reserveMs = event.value.reserveMs;
      return;
    case "outageGranted":
      if (view.readyDeadlineMs !== undefined) view.readyDeadlineMs += BigInt(event.value.outageMs);
      return;
    case "tableClosed":
      view.phase = TablePhase.CLOSED;
      view.closeReason = event.value.reason;
      delete view.readyDeadlineMs;
      return;
  }
}

function setOptional<K extends "readyDeadlineMs">(view: TableView, key: K, value: TableView[K]): void {
  if (value === undefined) delete view[key];
  else view[key] = value;
}

function seatOf(view: TableView, number: number): SeatView {
  const seat = view.seats[number];
  if (!seat) throw new RangeError(`the table has no seat ${number}`);
  return seat;
}

function sorted(tiles: readonly TileId[]): TileId[] {
  return [...tiles].sort((a, b) => a - b);
}

function isHidden(view: TableView, seat: SeatView): boolean {
  return seat.seat !== view.viewer && seat.tiles.length === 0;
}

function remove(seat: SeatView, gone: readonly TileId[]): void {
  seat.tileCount -= gone.length;
  seat.tiles = seat.tiles.filter((tile) => !gone.includes(tile));
}

function reveal(seat: SeatView, tiles: readonly TileId[]): void {
  seat.tiles = sorted(tiles);
  seat.tileCount = tiles.length;
}

function clearDiscard(view: TableView): void {
  delete view.lastDiscard;
  delete view.lastDiscardSeat;
}

function releaseSeat(view: TableView, number: number): void {
  const seat = seatOf(view, number);
  delete seat.player;
  seat.points = view.startingPoints;
  seat.leaving = false;
  if (view.phase === TablePhase.READY) {
    view.commitment = new Uint8Array();
    delete view.readyDeadlineMs;
    for (const each of view.seats) each.ready = false;
  }
  seat.nonceCommitment = new Uint8Array();
  view.phase = TablePhase.WAITING;
}

function startHand(view: TableView, event: HandStarted): void {
  view.phase = TablePhase.PLAYING;
  view.hand = event.hand;
  view.dealer = event.dealer;
  view.prevailingWind = event.prevailingWind;
  view.commitment = event.commitment;
  view.handDealer = event.dealer;
  view.handPrevailingWind = event.prevailingWind;
  const { kongBox, matchChanges } = factsOf(view.settings?.ruleset);
  view.kongBoxCount = kongBox;
  view.wallCount = TILES - kongBox;
  clearDiscard(view);
  delete view.won;
  delete view.drawn;
  delete view.settled;
  delete view.pendingKong;
  delete view.readyDeadlineMs;
  const allHuman = view.seats.every(({ player }) => player && player.botLevel === BotLevel.UNSPECIFIED);
  // A match is rated or not as a whole, by who began it.
  if (event.hand === 1 || matchChanges === null) view.unitRated = allHuman && (view.settings?.rated ?? false);
  const reserve = RESERVES_MS[view.settings?.speed ?? Speed.UNSPECIFIED] ?? 0;
  for (const seat of view.seats) {
    seat.ready = false;
    seat.reserveMs = reserve;
    seat.tileCount = 0;
    seat.tiles = [];
    seat.melds = [];
    seat.river = [];
    seat.bonus = [];
    seat.originalCall = false;
    delete seat.drawn;
  }
}

function drawTile(view: TableView, event: TileDrawn): void {
  // Kong replacements come out of the kong box where there is one (classical §2.2).
  if (event.source === DrawSource.KONG && view.kongBoxCount > 0) view.kongBoxCount -= 1;
  else view.wallCount -= 1;
  const seat = seatOf(view, event.seat);
  seat.tileCount += 1;
  if (event.tile === undefined) return;
  seat.tiles = sorted([...seat.tiles, event.tile]);
  if (event.tile >= FIRST_BONUS) return;
  if (seat.tileCount % 3 === 2) seat.drawn = event.tile;
  else delete seat.drawn;
}

function claimMeld(view: TableView, { seat: number, meld }: MeldClaimed): void {
  if (!meld) return;
  const seat = seatOf(view, number);
  remove(
    seat,
    meld.tiles.filter((tile) => tile !== meld.claimed),
  );
  seat.melds.push(meld);
  delete seat.drawn;
  if (meld.source !== undefined) takeFromRiver(seatOf(view, meld.source), number);
  clearDiscard(view);
}

function takeFromRiver(seat: SeatView, claimer: number): void {
  const last = seat.river.at(-1);
  if (last) last.claimedBy = claimer;
}

function completeKong(view: TableView, number: number, meld: KongDeclared["meld"]): void {
  if (!meld) return;
  const seat = seatOf(view, number);
  if (meld.kind === MeldKind.ADDED_KONG) {
    const pung = seat.melds.findIndex((other) => other.kind === MeldKind.PUNG && sameKind(other, meld));
    const old = seat.melds[pung];
    if (old) {
      remove(
        seat,
        meld.tiles.filter((tile) => !old.tiles.includes(tile)),
      );
      seat.melds[pung] = meld;
    }
  } else {
    remove(seat, meld.tiles);
    seat.melds.push(meld);
  }
  delete seat.drawn;
  delete view.pendingKong;
}

function sameKind(a: Meld, b: Meld): boolean {
  const [first, second] = [a.tiles[0], b.tiles[0]];
  return first !== undefined && second !== undefined && kindOf(first) === kindOf(second);
}

function winHand(view: TableView, event: HandWon): void {
  if (event.source !== undefined) {
    const source = seatOf(view, event.source);
    if (event.method === WinMethod.DISCARD) takeFromRiver(source, event.seat);
    else if (isHidden(view, source)) source.tileCount -= 1;
    else remove(source, [event.tile]);
  }
  const winner = seatOf(view, event.seat);
  reveal(winner, [...event.concealed, event.tile]);
  if (event.method === WinMethod.SELF_DRAW) winner.drawn = event.tile;
  else delete winner.drawn;
  clearDiscard(view);
  delete view.pendingKong;
  view.won = event;
}

function settleHand(view: TableView, event: HandSettled): void {
  view.seats.forEach((seat, number) => {
    seat.points += event.changes[number] ?? 0;
    const tiles = event.revealed[number]?.tiles ?? [];
    if (tiles.length > 0 && number !== event.winner) {
      reveal(seat, tiles);
      delete seat.drawn;
    }
  });
  view.settled = event;
  // The deal stays after the dealer's win and a drawn hand, and passes otherwise (hkos-3-v1 §1.10, classical §2.1).
  if (event.winner !== undefined && event.winner !== view.dealer) {
    view.dealer = (view.dealer + 1) % SEATS;
    view.dealerChanges += 1;
    view.prevailingWind = Math.floor(view.dealerChanges / SEATS) % SEATS;
  }
  view.phase = TablePhase.WAITING;
  view.commitment = new Uint8Array();
}
