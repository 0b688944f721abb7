"""Checking a finished hand: was the wall the promised one, did everything follow the rules, do the points add up?

A record is judged under its own ruleset and wall algorithm (promises P9, P10). Nothing of it is believed: the wall
is built again from the seed and the nonces, every event must follow from the state before it by a legal choice, and
the settlement is worked out again.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from libs.mahjong.engine.actions import PASS, WIN, Action, ActionType, RuleViolation
from libs.mahjong.engine.applying import added_tile
from libs.mahjong.engine.events import (
    ChoiceHeld,
    HandEvent,
    HandSettled,
    HandStarted,
    HandWon,
    KongDeclared,
    MeldClaimed,
    TileDiscarded,
)
from libs.mahjong.engine.hand import Act, Command, Expire, decide, legal_actions, settlement_of, start_hand
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.engine.state import HandState
from libs.mahjong.fairness import build_wall, commit, public_nonce
from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.record import HandRecord
from libs.mahjong.tiles import TILE_COUNT, Tile


class Check(enum.StrEnum):
    """What is checked, in this order."""

    COMMITMENT = "commitment"
    """The server's seed is the one whose seal was published before."""
    NONCES = "nonces"
    """Every revealed nonce is the one that its seat committed to; a bot's follows the public rule."""
    WALL = "wall"
    """The wall is the one that the seed and the nonces give."""
    EVENTS = "events"
    """Every event follows from those before it by a legal choice or a timeout."""
    SETTLEMENT = "settlement"
    """The ruleset gives the same scores and payments."""
    ZERO_SUM = "zero sum"
    """The changes are the sums of the payments and add to zero."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check; ``detail`` says what is wrong and is empty when nothing is."""

    check: Check
    detail: str = ""

    @property
    def passed(self) -> bool:
        """True when nothing is wrong."""
        return not self.detail


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """All findings about a record, one for every check."""

    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """True when every check passed."""
        return all(finding.passed for finding in self.findings)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(finding.check for finding in self.findings if not finding.passed)


def verify(record: HandRecord) -> VerificationReport:
    """Return what checking the record gives.

    Raises ``UnknownRuleset`` or ``UnknownAlgorithm`` when the record was made under a version that this library does
    not know: then nothing can be said about it.
    """
    ruleset(record.ruleset_id)
    wall = build_wall(
        record.algorithm, record.table_id, record.hand, record.ruleset_id, record.server_seed, record.nonces
    )
    final, events = _check_events(record)
    return VerificationReport(
        (
            Finding(Check.COMMITMENT, _check_commitment(record)),
            Finding(Check.NONCES, _check_nonces(record)),
            Finding(Check.WALL, "" if wall == record.wall else "the seed and the nonces give another wall"),
            Finding(Check.EVENTS, events),
            Finding(Check.SETTLEMENT, _check_settlement(record, final)),
            Finding(Check.ZERO_SUM, _check_sums(record.settlement)),
        )
    )


def _check_commitment(record: HandRecord) -> str:
    started = record.events[0].event
    assert isinstance(started, HandStarted)
    return "" if started.commitment == commit(record.server_seed) else "the seed is not the one that was committed to"


def _check_nonces(record: HandRecord) -> str:
    for seat, (player, nonce) in enumerate(zip(record.players, record.nonces, strict=True)):
        if not nonce.honest:
            return f"seat {seat} revealed another nonce than it committed to"
        if not player.is_human and nonce.nonce != public_nonce(record.table_id, record.hand, seat):
            return f"the bot on seat {seat} has a nonce of its own"
    return ""


def _check_events(record: HandRecord) -> tuple[HandState | None, str]:
    """The state before the settlement, if the events lead there, and what is wrong with them."""
    events = tuple(timed.event for timed in record.events)
    offsets = tuple(timed.offset_ms for timed in record.events)
    if offsets[0] < 0 or any(later < earlier for earlier, later in pairwise(offsets)):
        return None, "the events are not in the order of their times"
    started = events[0]
    assert isinstance(started, HandStarted)
    if (started.hand, started.dealer, started.prevailing_wind) != (record.hand, record.dealer, record.prevailing_wind):
        return None, "the hand was started with another number, dealer or prevailing wind"
    if sorted(record.wall) != list(range(TILE_COUNT)):
        return None, "the wall does not hold each of the 144 tiles once"
    first = start_hand(
        ruleset(record.ruleset_id),
        record.hand,
        record.dealer,
        record.prevailing_wind,
        record.wall,
        started.commitment,
        record.moment,
        record.dealer_wins,
    )
    if events[: len(first.events)] != first.events:
        return None, "the deal is not the one of the wall"
    state, at = first.state, len(first.events)
    while not state.is_over:
        if at >= len(events):
            return None, "the events stop before the hand is over"
        for command in _candidates(state, events[at]):
            try:
                transition = decide(state, command)
            except RuleViolation:
                continue
            if events[at : at + len(transition.events)] == transition.events:
                break
        else:
            return None, f"event {at} ({type(events[at]).__name__}) follows from no legal choice"
        state, at = transition.state, at + len(transition.events)
    if at != len(events) - 1:
        return None, f"event {at} comes after the end of the hand"
    return state, ""


def _candidates(state: HandState, event: HandEvent) -> Iterator[Command]:
    """The commands that may have led from a state with an open decision to the event."""
    opened = state.decision
    assert opened is not None
    decision = opened.decision
    match event:
        case ChoiceHeld():
            yield Act(event.seat, event.decision, event.action)
        case TileDiscarded():
            kind = ActionType.ORIGINAL_CALL if event.original_call else ActionType.DISCARD
            yield Act(event.seat, decision, Action(kind, (event.tile,)))
        case KongDeclared():
            yield Act(event.seat, decision, _kong_action(state, event))
        case HandWon():
            yield Act(event.seat, decision, WIN)
        case MeldClaimed():
            yield Act(event.seat, decision, _claim_action(event.meld))
    yield Expire(decision)
    for seat in opened.seats:
        if state.held[seat] is None:
            yield Act(seat, decision, PASS)
            for action in legal_actions(state, seat):
                yield Act(seat, decision, action)


def _kong_action(state: HandState, event: KongDeclared) -> Action:
    if event.meld.kind is MeldKind.CONCEALED_KONG:
        return Action(ActionType.CONCEALED_KONG, event.meld.tiles)
    try:
        return Action(ActionType.ADDED_KONG, (added_tile(state.seats[event.seat], event.meld),))
    except LookupError:
        return PASS


_CLAIMS = {
    MeldKind.CHOW: ActionType.CHOW,
    MeldKind.PUNG: ActionType.PUNG,
    MeldKind.CLAIMED_KONG: ActionType.CLAIMED_KONG,
}


def _claim_action(meld: Meld) -> Action:
    own: tuple[Tile, ...] = tuple(tile for tile in meld.tiles if tile != meld.claimed)
    return Action(_CLAIMS[meld.kind], own) if meld.kind in _CLAIMS else PASS


def _check_settlement(record: HandRecord, final: HandState | None) -> str:
    if final is None:
        return "the events do not lead to a settlement"
    return "" if settlement_of(final) == record.settlement else "the ruleset gives another settlement"


def _check_sums(settlement: HandSettled) -> str:
    changes = [0, 0, 0, 0]
    for payment in settlement.payments:
        if payment.amount <= 0 or not 0 <= payment.payer < 4 or not 0 <= payment.payee < 4:
            return f"{payment} is no payment"
        changes[payment.payer] -= payment.amount
        changes[payment.payee] += payment.amount
    if tuple(changes) != settlement.changes:
        return "the changes are not the sums of the payments"
    return "" if sum(settlement.changes) == 0 else "the changes do not add to zero"
