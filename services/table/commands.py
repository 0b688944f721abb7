"""From a command as it comes in to the engine's command for the seat of whoever sent it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eastwind.table.v1 import table_service_pb2 as table_pb2
from libs.contracts.computers import computer_player
from libs.contracts.settings import player_from_proto
from libs.contracts.tiles import InvalidMessage, action_from_proto
from libs.mahjong.engine import table_commands as commands
from libs.mahjong.engine.actions import Reason, RuleViolation
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.fairness import NO_COMMITMENT
from libs.mahjong.tiles import Seat

MAX_COMMAND_ID = 36


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the worker adds to a command: when it came in, fresh randomness, and the pause that follows it."""

    now_ms: int
    server_seed: bytes
    hold_ms: int = 0
    round_trip_ms: int = 0


Make = Callable[[TableState, Circumstances], Sequence[commands.TableCommand]]
"""Makes the engine's commands from the state at the moment when their turn comes."""


def is_for_players(message: table_pb2.TableCommand) -> bool:
    """Tell whether a player may send the command; seats are given by matchmaking alone."""
    return message.WhichOneof("command") in ("choose", "ready", "commit_nonce", "leave_seat")


def to_engine(
    state: TableState, account_id: str, message: table_pb2.TableCommand, given: Circumstances
) -> list[commands.TableCommand]:
    """Return the engine's commands, one unless computers take several seats.

    The seat is that of the account, whatever the message says. Raises ``RuleViolation`` and ``InvalidMessage``.
    """
    name = message.WhichOneof("command")
    identity = f"{account_id}:{message.command_id}" if message.command_id else ""
    if len(message.command_id) > MAX_COMMAND_ID:
        raise InvalidMessage("command_id", f"longer than {MAX_COMMAND_ID} characters")
    if name == "take_seat":
        return [_take_seat(state, message.take_seat, identity, given)]
    if name == "seat_bots":
        return _seat_bots(state, message.seat_bots, identity, given)
    seat = state.seat_of(account_id)
    if seat is None:
        raise RuleViolation(Reason.NOT_SEATED, "the account has no seat at this table")
    if name == "choose":
        return [
            commands.Act(
                identity,
                given.now_ms,
                seat,
                message.choose.decision,
                action_from_proto(message.choose.action, "choose.action"),
                given.round_trip_ms,
                given.hold_ms,
            )
        ]
    if name == "ready":
        if message.ready.hand != state.hand_number:
            raise RuleViolation(Reason.NOT_READY_STEP, f"hand {state.hand_number} is the one that comes next")
        return [
            commands.ConfirmReady(
                identity,
                given.now_ms,
                seat,
                message.ready.nonce or None,
                message.ready.next_commitment or NO_COMMITMENT,
            )
        ]
    if name == "commit_nonce":
        if message.commit_nonce.hand != state.hand_number:
            raise RuleViolation(Reason.NOT_READY_STEP, f"hand {state.hand_number} is the one that comes next")
        return [commands.CommitNonce(identity, given.now_ms, seat, message.commit_nonce.commitment)]
    if name == "leave_seat":
        return [commands.LeaveSeat(identity, given.now_ms, seat)]
    raise InvalidMessage("command", "no command, or one of a newer kind")


def _take_seat(
    state: TableState, message: table_pb2.TakeSeat, identity: str, given: Circumstances
) -> commands.TableCommand:
    occupant = player_from_proto(message.player, "take_seat.player")
    if occupant is None:
        raise InvalidMessage("take_seat.player", "there is none")
    if message.HasField("seat"):
        seat: Seat = message.seat
    elif state.open_seats:
        seat = state.open_seats[0]
    elif state.seat_of(occupant.account_id) is not None:
        # A repeat of whoever took the last seat: the table is full, with this player.
        raise RuleViolation(Reason.ALREADY_SEATED, "the account holds a seat here")
    else:
        raise RuleViolation(Reason.TABLE_FULL, "all seats are taken")
    return commands.TakeSeat(identity, given.now_ms, seat, occupant, given.server_seed)


def _seat_bots(
    state: TableState, message: table_pb2.SeatBots, identity: str, given: Circumstances
) -> list[commands.TableCommand]:
    if not message.level:
        raise InvalidMessage("seat_bots.level", "there is none")
    return [
        commands.TakeSeat(
            f"{identity}:{seat}" if identity else "",
            given.now_ms,
            seat,
            occupant,
            given.server_seed,
        )
        for seat in state.open_seats
        if (occupant := player_from_proto(computer_player(state.table_id, seat, message.level))) is not None
    ]
