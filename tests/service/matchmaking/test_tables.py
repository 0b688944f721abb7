"""Public and private tables: making, listing, joining, leaving, filling, and who sits where, on real servers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eastwind.events.v1 import envelope_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.type.v1 import reason_pb2, settings_pb2
from libs.chassis.errors import EastwindError, Unavailable
from libs.chassis.identifiers import new_table_id
from libs.chassis.page_tokens import PageTokens
from services.matchmaking import keys
from services.matchmaking.lobby import Lobby
from services.matchmaking.table_calls import TableCalls
from tests.service.matchmaking.running import Player, Running, eventually


async def refusal(call: Any) -> EastwindError:
    """The error with which a call is refused."""
    with pytest.raises(EastwindError) as refused:
        await call
    return refused.value


async def listed(player: Player) -> dict[str, tuple[list[str], int]]:
    """The tables of the lobby: who sits there, and how many seats are free."""
    tables = (await player.tables()).tables
    return {each.table_id: ([seat.name for seat in each.players], each.free_seats) for each in tables}


async def test_a_public_table_is_listed_joined_left_and_closed(services: Running) -> None:
    await services.start(replicas=2)
    host, guest = services.player("host"), services.player("guest", guest=True)
    made = await host.create(name="Evening")
    assert made.code == ""

    async def shows(names: list[str], free: int) -> bool:
        found = (await listed(guest)).get(made.table_id)
        return found is not None and (sorted(found[0]), found[1]) == (sorted(names), free)

    await eventually(lambda: shows(["host"], 3))
    assert (await guest.tables()).tables[0].settings.name == "Evening"
    assert await host.seat() == made.table_id
    joined = await guest.join(made.table_id)
    assert joined == await guest.join(made.table_id)
    view = await guest.view(made.table_id)
    assert view.viewer == joined.seat
    assert view.seats[joined.seat].player.guest
    await eventually(lambda: shows(["host", "guest"], 2))
    assert (await guest.leave(made.table_id)).pending == reason_pb2.REASON_UNSPECIFIED
    assert (await guest.leave(made.table_id)).pending == reason_pb2.REASON_UNSPECIFIED
    assert await guest.seat() == ""
    await eventually(lambda: shows(["host"], 3))
    await host.leave(made.table_id)
    assert await host.seat() == ""

    async def unlisted() -> bool:
        return made.table_id not in await listed(guest)

    await eventually(unlisted)
    assert (await refusal(guest.join(made.table_id))).reason == "TABLE_CLOSED"
    assert (await guest.create("another")).table_id != made.table_id


async def test_a_table_may_be_joined_before_the_news_of_it_has_come(services: Running) -> None:
    await services.start()
    host, guest = services.player("host"), services.player("guest")
    made = await host.create()
    assert (await guest.join(made.table_id)).table_id == made.table_id
    assert (await refusal(services.player("x").join(new_table_id()))).reason == "TABLE_UNKNOWN"
    assert (await refusal(services.player("x").join("no table id"))).reason == "INVALID_ARGUMENT"


async def test_c120_who_took_the_last_seat_may_join_again(services: Running) -> None:
    await services.start()
    made = await services.player("host").create()
    players = [services.player(name) for name in ("second", "third", "last")]
    seats = [(await player.join(made.table_id)).seat for player in players]
    assert [(await player.join(made.table_id)).seat for player in players] == seats
    assert (await refusal(services.player("late").join(made.table_id))).reason == "TABLE_FULL"


async def test_c120_a_repeated_request_is_the_same_table(services: Running) -> None:
    await services.start(replicas=2)
    host = services.player("host")
    private = await host.create("once", private=True)
    assert await host.create("once", private=True) == private
    together = services.player("together")
    answers = await asyncio.gather(*(together.create("twice", private=True, replica=number) for number in range(4)))
    assert len({(answer.table_id, answer.code) for answer in answers}) == 1
    assert await together.seat() == answers[0].table_id
    view = await together.view(answers[0].table_id)
    assert [seat.player.account_id for seat in view.seats].count(together.account_id) == 1


async def test_a_private_table_opens_to_its_code_alone(services: Running) -> None:
    await services.start()
    host, friend, stranger = services.player("host"), services.player("friend"), services.player("stranger")
    made = await host.create(private=True)
    public = await services.player("other").create()

    async def public_listed() -> bool:
        return public.table_id in await listed(stranger)

    await eventually(public_listed)
    assert made.table_id not in await listed(stranger)
    assert len(made.code) == 8
    for attempt in (
        stranger.join(made.table_id),
        stranger.join(code="22222222"),
        stranger.join(code="short"),
        stranger.join(public.table_id, made.code),
        stranger.join(made.table_id, "22222222"),
    ):
        assert (await refusal(attempt)).reason == "WRONG_CODE"
    assert await stranger.seat() == ""
    assert (await friend.join(code=made.code.lower())).table_id == made.table_id
    assert (await refusal(stranger.fill(made.table_id))).reason in ("PERMISSION_DENIED", "NOT_SEATED")
    await host.leave(made.table_id)
    await friend.leave(made.table_id)

    async def closed() -> bool:
        return (await refusal(stranger.join(code=made.code))).reason == "WRONG_CODE"

    await eventually(closed)


async def test_a_table_that_cannot_be_is_refused_and_leaves_nothing(services: Running) -> None:
    await services.start()
    player = services.player("one")
    for reason, request_id, settings in (
        ("INVALID_ARGUMENT", "first", {"private": True, "rated": True}),
        ("INVALID_ARGUMENT", "first", {"speed": settings_pb2.SPEED_UNTIMED, "rated": True}),
        ("INVALID_ARGUMENT", "first", {"speed": settings_pb2.SPEED_UNSPECIFIED}),
        ("INVALID_ARGUMENT", "first", {"speed": 77}),
        ("RULESET_UNKNOWN", "first", {"ruleset": "mahjong-of-mars-v9"}),
        ("INVALID_ARGUMENT", "first", {"name": "x" * 41}),
        ("INVALID_ARGUMENT", "first", {"name": "x" * 10_000}),
        ("INVALID_ARGUMENT", "first", {"fill_with": 9}),
        ("INVALID_ARGUMENT", "", {}),
        ("INVALID_ARGUMENT", "x" * 37, {}),
    ):
        refused = await refusal(player.create(request_id, **settings))
        assert (refused.reason, request_id, settings) == (reason, request_id, settings)
        assert await player.seat() == ""
    assert (await player.create("good")).table_id


async def test_c135_names_of_tables_hide_nothing(services: Running) -> None:
    await services.start()
    names = {
        "a": ("<b onclick=x>hi</b>", "<b onclick=x>hi</b>"),
        "b": ("\u202egnol\u202c \u2066x\u2069", "gnol x"),
        "c": ("\u200b\u200d\ufeff", ""),
        "d": ("  two\n\twords\x00 ", "two words"),
        "e": ("Ｆｕｌｌ", "Full"),
    }
    players = {key: services.player(key) for key in names}
    for key, (name, _) in names.items():
        await players[key].create(name=name)

    async def all_there() -> Any:
        tables = (await players["a"].tables()).tables
        return tables if len(tables) == len(names) else None

    shown = {table.players[0].name: table.settings.name for table in await eventually(all_there)}
    assert shown == {key: wanted for key, (_, wanted) in names.items()}


async def test_who_plays_elsewhere_is_told_where(services: Running) -> None:
    await services.start()
    player, host = services.player("player"), services.player("host")
    mine, other = await player.create(), await host.create()
    for attempt in (player.join(other.table_id), player.create("second")):
        error = await refusal(attempt)
        assert (error.reason, error.metadata["table_id"]) == ("ALREADY_PLAYING", mine.table_id)
    entered = await player.queue()
    assert (entered.table_id, entered.ticket_id) == (mine.table_id, "")
    await player.leave(mine.table_id)
    assert (await player.join(other.table_id)).table_id == other.table_id


async def test_a_join_whose_answer_is_lost_keeps_its_seat(services: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    await services.start(replicas=2)
    host, third, guest = services.player("host"), services.player("third"), services.player("guest")
    made, other = await host.create(), await third.create()
    act = TableCalls.act

    async def loses_its_answer(calls: TableCalls, *args: Any) -> int | None:
        await act(calls, *args)
        raise Unavailable("the worker went away after it had done so")

    with monkeypatch.context() as losing:
        losing.setattr(TableCalls, "act", loses_its_answer)
        assert (await refusal(guest.join(made.table_id))).reason == "UNAVAILABLE"
    error = await refusal(guest.join(other.table_id))
    assert (error.reason, error.metadata["table_id"]) == ("ALREADY_PLAYING", made.table_id)
    assert (await guest.join(made.table_id)).seat == (await guest.view(made.table_id)).viewer


async def test_computers_fill_a_table(services: Running) -> None:
    await services.start()
    host, at_once, stranger = services.player("host"), services.player("at once"), services.player("stranger")
    made = await host.create()
    assert (await refusal(stranger.fill(made.table_id))).reason == "NOT_SEATED"
    assert (await refusal(host.fill(made.table_id, 7))).reason == "INVALID_ARGUMENT"
    assert await host.fill(made.table_id, 2) == 3
    assert await host.fill(made.table_id, 2) == 0
    view = await host.view(made.table_id)
    assert sorted(seat.player.bot_level for seat in view.seats) == [0, 2, 2, 2]
    assert (await refusal(stranger.join(made.table_id))).reason == "TABLE_FULL"
    assert await stranger.seat() == ""
    filled = await at_once.view((await at_once.create(fill_with=3, rated=True)).table_id)
    assert sorted(seat.player.bot_level for seat in filled.seats) == [0, 3, 3, 3]
    assert not filled.settings.rated


async def test_leaving_during_a_hand_keeps_the_seat(services: Running) -> None:
    await services.start()
    host = services.player("host")
    made = await host.create()
    players = [host, *(services.player(str(number)) for number in range(3))]
    for player in players[1:]:
        await player.join(made.table_id)
    for player in players:
        await player.ready(made.table_id)
    assert (await players[1].leave(made.table_id)).pending == reason_pb2.REASON_HAND_NOT_OVER
    assert (await players[1].leave(made.table_id)).pending == reason_pb2.REASON_HAND_NOT_OVER
    assert await players[1].seat() == made.table_id
    assert (await refusal(players[1].create())).reason == "ALREADY_PLAYING"
    view = await players[1].view(made.table_id)
    assert view.seats[view.viewer].leaving


async def test_pages_of_the_lobby(services: Running) -> None:
    await services.start(replicas=2)
    players = [services.player(f"p{number}") for number in range(7)]
    made = [(await player.create()).table_id for player in players]

    async def all_listed() -> bool:
        return len((await players[0].tables()).tables) == len(made)

    await eventually(all_listed)
    seen: list[str] = []
    tokens = [""]
    while True:
        page = await players[0].tables(2, tokens[-1])
        seen += [table.table_id for table in page.tables]
        if not page.next_page_token:
            break
        assert len(page.tables) == 2
        tokens.append(page.next_page_token)
    assert len(tokens) == 4
    assert sorted(seen) == sorted(made)
    times = {table.table_id: table.created_ms for table in (await players[0].tables()).tables}
    assert [times[table_id] for table_id in seen] == sorted(times.values(), reverse=True)
    assert not (await players[0].tables(ruleset="another-v1")).tables
    for garbage in ("nonsense", "a" * 5000, "ÄÖÜ", tokens[1][:-2], tokens[1] + "AAAA", "MTIgeA"):
        assert (await refusal(players[0].tables(2, garbage))).reason == "PAGE_TOKEN_INVALID"
    error = await refusal(players[0].tables(2, tokens[1], ruleset="hkos-3-v1"))
    assert error.reason == "PAGE_TOKEN_INVALID"


async def test_a_seat_is_what_the_table_says(services: Running) -> None:
    """What the lobby remembers may be old or wrong; nobody is kept from playing by it."""
    await services.start()
    player, host, friend = services.player("player"), services.player("host"), services.player("friend")
    redis = services.redis
    theirs = await host.create()
    for wrong in (new_table_id(), theirs.table_id):
        await redis.call(b"SET", keys.seat(player.account_id), wrong, key=keys.seat(player.account_id))
        assert await player.seat() == ""
    own = await player.create()
    assert await player.seat() == own.table_id
    # The lobby has lost everything: the next news of a table brings its seats and its place in the list back.
    for name in await redis.call(b"KEYS", b"ew:{matchmaking}:*", key=keys.LOBBY):
        await redis.call(b"DEL", name, key=keys.LOBBY)
    assert await player.seat() == ""
    await friend.join(own.table_id)

    async def back() -> bool:
        return await player.seat() == own.table_id and own.table_id in await listed(host)

    await eventually(back)
    assert (await refusal(player.create("again"))).reason == "ALREADY_PLAYING"


async def test_seats_and_lobby_outlive_a_restart_of_everything(
    services: Running, valkey_server: Any, keeper: Any
) -> None:
    await services.start()
    player, friend = services.player("player"), services.player("friend")
    made = await player.create(private=True)
    await friend.join(code=made.code)
    ticket = services.player("waiting")
    entered = await ticket.queue()
    keeper.run(valkey_server.stop())
    keeper.run(valkey_server.start())
    await services.restart(0)

    async def answers() -> bool:
        try:
            return await player.seat() == made.table_id
        except EastwindError:
            return False

    await eventually(answers)
    assert await friend.seat() == made.table_id
    assert (await ticket.queue()).ticket_id == entered.ticket_id
    assert (await services.player("late").join(code=made.code)).table_id == made.table_id


async def test_late_news_of_a_table_moves_nobody_who_sits_elsewhere(services: Running) -> None:
    await services.start()
    player, host = services.player("player"), services.player("host")
    left, here = await player.create(), await host.create()
    await player.leave(left.table_id)
    await player.join(here.table_id)

    async def news() -> bool:
        return here.table_id in await listed(player)

    await eventually(news)
    lobby, key = Lobby(services.redis, PageTokens(services.base)), keys.table(left.table_id)
    sitting = [settings_pb2.Player(account_id=player.account_id)]
    stale = envelope_pb2.TableChanged(table_id=left.table_id, players=sitting)

    async def stale_news() -> bool:
        # News of the table that was left may still be on its way, and is newer than this.
        await services.redis.call(b"DEL", key, key=key)
        return await lobby.changed(stale, 1, 1)

    await eventually(stale_news)
    assert await player.seat() == here.table_id


async def test_it_says_whose_token_it_needs(services: Running) -> None:
    await services.start()
    assert (await refusal(services.stub().GetSeat(matchmaking_pb2.GetSeatRequest()))).reason == "UNAUTHENTICATED"
