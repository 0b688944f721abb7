"""A seat's view goes to a computer player as a message and arrives as the same hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eastwind.table.v1 import view_pb2
from libs.contracts.bot_views import hand_view_from_proto
from libs.contracts.tiles import InvalidMessage
from libs.contracts.views import view_message
from libs.mahjong.bots import Level, choose
from libs.mahjong.engine.events import DecisionKind
from libs.mahjong.engine.ruleset import UnknownRuleset
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.engine.views import SeatView, view_of
from libs.mahjong.simulation import SimulatedTable, derived_seed, seeded_policy
from libs.mahjong.tiles import Seat

SEED = b"bot views"
CONNECTED = (True,) * 4


def positions(hands: int) -> Iterator[tuple[TableState, Seat]]:
    """Every seat that is asked at every decision of some hands of random play."""
    policies = [seeded_policy(derived_seed(SEED, seat)) for seat in range(4)]
    for hand in range(hands):
        table = SimulatedTable.open("hkos-3-v1", policies, derived_seed(SEED, "hand", hand))
        table.get_ready()
        while table.state.awaited:
            for seat in table.state.awaited:
                yield table.state, seat
            table.answer()


def sent(state: TableState, seat: Seat) -> view_pb2.TableView:
    """The seat's view as it comes out of the wire."""
    return view_pb2.TableView.FromString(view_message(state, seat, CONNECTED).SerializeToString())


def seen(state: TableState, seat: Seat) -> SeatView:
    assert state.hand is not None
    return view_of(state.hand, seat)


def test_a_view_that_was_sent_shows_the_same_hand() -> None:
    kinds = set()
    for state, seat in positions(4):
        view, back = seen(state, seat), hand_view_from_proto(sent(state, seat))
        assert back.viewer == seat
        assert back.actions == view.actions
        assert back.live_left == view.live_left
        assert back.last_discard == view.last_discard
        assert back.kong == view.kong
        assert [back.seat_wind(other) for other in range(4)] == [view.seat_wind(other) for other in range(4)]
        for mine, other in zip(view.seats, back.seats, strict=True):
            facts = ("hidden", "tiles", "codes", "count", "melds", "river", "bonus", "drawn")
            assert [getattr(mine, fact) for fact in facts] == [getattr(other, fact) for fact in facts]
        assert (back.win_score is None) == (view.win_score is None)
        assert view.decision is not None
        kinds.add(view.decision.kind)
    assert kinds >= {DecisionKind.TURN, DecisionKind.CLAIM}


def test_players_choose_the_same_from_a_view_that_was_sent() -> None:
    for number, (state, seat) in enumerate(positions(2)):
        for level in Level:
            here = choose(seen(state, seat), level, seed=number)
            assert choose(hand_view_from_proto(sent(state, seat)), level, seed=number) == here


def asked() -> view_pb2.TableView:
    """The view of a seat on turn some steps into a hand."""
    for number, (state, seat) in enumerate(positions(1)):
        if number > 20 and state.hand is not None and state.hand.seats[seat].drawn is not None:
            return sent(state, seat)
    raise AssertionError("nobody was on turn")


def test_a_spectator_is_never_asked() -> None:
    message = asked()
    message.ClearField("viewer")
    with pytest.raises(InvalidMessage, match=r"view\.viewer"):
        hand_view_from_proto(message)


def test_an_unknown_ruleset_is_named() -> None:
    message = asked()
    message.settings.ruleset = "hkos-4-v9"
    with pytest.raises(UnknownRuleset, match="hkos-4-v9"):
        hand_view_from_proto(message)


def test_who_has_no_option_is_not_asked() -> None:
    message = asked()
    del message.decision.options[:]
    with pytest.raises(InvalidMessage, match=r"view\.decision"):
        hand_view_from_proto(message)


def test_another_seat_s_turn_is_refused() -> None:
    message = asked()
    message.decision.seat = (message.viewer + 1) % 4
    with pytest.raises(InvalidMessage, match=r"view\.decision"):
        hand_view_from_proto(message)


def test_a_tile_lies_in_one_place() -> None:
    message = asked()
    other = message.seats[(message.viewer + 1) % 4]
    other.river.add(tile=message.seats[message.viewer].tiles[0])
    with pytest.raises(InvalidMessage, match=r"view\.seats"):
        hand_view_from_proto(message)


def test_an_option_names_own_tiles() -> None:
    message = asked()
    own = set(message.seats[message.viewer].tiles)
    message.decision.options[-1].action.tiles[0] = next(tile for tile in range(136) if tile not in own)
    with pytest.raises(InvalidMessage, match=r"options"):
        hand_view_from_proto(message)


@pytest.mark.parametrize("change", ["tiles", "count", "wall", "seats", "tile"])
def test_what_no_hand_can_give_is_refused(change: str) -> None:
    message = asked()
    own = message.seats[message.viewer]
    if change == "tiles":
        own.tiles[0], own.tiles[1] = own.tiles[1], own.tiles[0]
    elif change == "count":
        message.seats[(message.viewer + 2) % 4].tile_count += 3
    elif change == "wall":
        message.wall_count = 145
    elif change == "seats":
        del message.seats[3]
    else:
        message.seats[(message.viewer + 1) % 4].river.add(tile=900)
    with pytest.raises(InvalidMessage):
        hand_view_from_proto(message)
