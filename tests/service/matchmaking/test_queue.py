"""Quick Play: tickets, matches, computers, on real servers."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.type.v1 import settings_pb2
from libs.chassis.errors import EastwindError
from libs.contracts.computers import computer_player
from services.matchmaking import keys
from services.matchmaking.matcher import table_request
from services.matchmaking.tickets import Match, MatchedTicket, QueueName
from tests.service.fleet import ShiftedClock
from tests.service.matchmaking.running import RULESET, Player, Running, eventually

MATCHED = matchmaking_pb2.QUEUE_STATE_MATCHED
LEFT = matchmaking_pb2.QUEUE_STATE_LEFT
WAITING = matchmaking_pb2.QUEUE_STATE_WAITING


async def seated(player: Player, table_id: str) -> list[str]:
    """The accounts at a table, by seat."""
    return [seat.player.account_id for seat in (await player.view(table_id)).seats]


async def test_c079_four_taps_on_two_replicas_are_one_ticket(services: Running) -> None:
    await services.start(replicas=2)
    others = [services.player(name) for name in ("one", "two", "three")]
    await asyncio.gather(*(player.queue() for player in others))
    watches = [asyncio.create_task(player.outcome()) for player in others]
    eager = services.player("eager")
    entered = await asyncio.gather(*(eager.queue(replica=number) for number in range(4)))
    tickets = {each.ticket_id for each in entered if each.ticket_id}
    tables = {each.table_id for each in entered if each.table_id}
    assert len(tickets) == 1
    outcome = await eager.outcome()
    assert outcome.state == MATCHED
    assert tables <= {outcome.table_id}
    assert {(await watch).table_id for watch in watches} == {outcome.table_id}
    accounts = await seated(eager, outcome.table_id)
    assert sorted(accounts) == sorted(player.account_id for player in (eager, *others))
    assert (await eager.queue()).table_id == outcome.table_id


async def test_c120_entering_again_returns_the_same_ticket_until_it_is_left(services: Running) -> None:
    await services.start(replicas=2)
    player = services.player("one")
    first = await player.queue(replica=0)
    assert (await player.queue(replica=1)).ticket_id == first.ticket_id
    await player.leave_queue()
    await player.leave_queue()
    assert (await player.outcome()).state == LEFT
    assert (await player.queue()).ticket_id != first.ticket_id


async def test_c081_a_player_who_is_gone_is_never_matched_and_the_others_keep_their_time(services: Running) -> None:
    await services.start(queue_ticket_s=0.6)
    ghost = services.player("ghost")
    staying = [services.player(name) for name in ("one", "two")]
    watches = []
    for player in staying:
        await player.queue()
        watches.append(asyncio.create_task(player.outcome()))
    await ghost.queue()
    first = await anext(aiter(staying[0].watch()))

    async def gone() -> bool:
        return not await services.redis.call(
            b"EXISTS", keys.ticket(ghost.account_id), key=keys.ticket(ghost.account_id)
        )

    await eventually(gone)
    again = await anext(aiter(staying[0].watch()))
    assert again.fill_at_ms == first.fill_at_ms
    assert not any(watch.done() for watch in watches)
    third, fourth = services.player("three"), services.player("four")
    await third.queue()
    watches.append(asyncio.create_task(third.outcome()))
    await fourth.queue()
    outcomes = await asyncio.gather(*watches, fourth.outcome())
    assert {outcome.state for outcome in outcomes} == {MATCHED}
    accounts = await seated(fourth, outcomes[0].table_id)
    assert sorted(accounts) == sorted(player.account_id for player in (*staying, third, fourth))
    assert await ghost.seat() == ""


async def test_c081_joining_a_table_ends_the_ticket(services: Running) -> None:
    await services.start()
    host, guest, other = services.player("host"), services.player("guest"), services.player("other")
    made = await host.create(private=True)
    await guest.queue()
    watch = asyncio.create_task(guest.outcome())
    assert (await anext(aiter(guest.watch()))).state == WAITING
    assert (await guest.join(code=made.code)).table_id == made.table_id
    outcome = await watch
    assert outcome.state == LEFT or outcome.table_id == made.table_id
    for player in (other, services.player("b"), services.player("c")):
        await player.queue()
    assert (await anext(aiter(other.watch()))).waiting == 3
    assert (await guest.queue()).table_id == made.table_id


async def test_a_ticket_moves_with_its_player_to_another_queue(services: Running) -> None:
    """Also when the first ticket ran out unseen: whoever waits for a rated table is not put at a casual one."""
    await services.start(queue_ticket_s=0.5, queue_fill_after_s=2.0)
    mover, casual = services.player("mover"), services.player("casual")
    await mover.queue()

    async def gone() -> bool:
        return not await services.redis.call(
            b"EXISTS", keys.ticket(mover.account_id), key=keys.ticket(mover.account_id)
        )

    await eventually(gone)
    await mover.queue(rated=True)
    await casual.queue()
    mine, theirs = await asyncio.gather(mover.outcome(), casual.outcome())
    assert mine.table_id != theirs.table_id
    assert mover.account_id not in await seated(casual, theirs.table_id)


async def test_c084_computers_fill_the_table_after_the_wait_and_make_it_casual(services: Running) -> None:
    await services.start(queue_fill_after_s=1.0, queue_bot_level=3)
    alone = services.player("alone")
    await alone.queue(rated=True)
    watch = aiter(alone.watch())
    status = await anext(watch)
    assert (status.state, status.waiting, status.rated) == (WAITING, 1, True)
    late = asyncio.create_task(alone.outcome())
    while await anext(watch, None) is not None:
        pass
    outcome = await late
    assert (outcome.state, outcome.rated) == (MATCHED, False)
    view = await alone.view(outcome.table_id)
    assert view.settings.speed == settings_pb2.SPEED_STANDARD
    assert not view.settings.rated
    assert not view.unit_rated
    levels = sorted(seat.player.bot_level for seat in view.seats)
    assert levels == [0, 3, 3, 3]


async def test_c084_another_queue_is_left_alone_and_a_late_person_is_preferred_to_a_computer(services: Running) -> None:
    clock = ShiftedClock()
    await services.start(clock=clock, queue_fill_after_s=60.0)
    alone, late, elsewhere = services.player("alone"), services.player("late"), services.player("elsewhere")
    ticket = await alone.queue()
    watch = asyncio.create_task(alone.outcome())
    clock.advance(30_000)
    await late.queue()
    kept = await elsewhere.queue(rated=True)
    clock.advance(30_000)
    latecomer = asyncio.create_task(late.outcome())
    outcome = await watch
    assert (await latecomer).table_id == outcome.table_id
    people = [account for account in await seated(alone, outcome.table_id) if not account.startswith("bot:")]
    assert sorted(people) == sorted((alone.account_id, late.account_id))
    assert ticket.ticket_id
    assert (await elsewhere.queue(rated=True)).ticket_id == kept.ticket_id


async def test_four_people_make_a_rated_table(services: Running) -> None:
    await services.start()
    players = [services.player(str(number), guest=number == 0) for number in range(4)]
    for player in players:
        await player.queue(rated=True)
    outcomes = await asyncio.gather(*(player.outcome() for player in players))
    assert all(outcome.rated for outcome in outcomes)
    view = await players[0].view(outcomes[0].table_id)
    assert (view.settings.rated, view.settings.uniform_pacing) == (True, True)
    assert sorted((seat.player.name, seat.player.guest) for seat in view.seats) == [
        ("0", True),
        ("1", False),
        ("2", False),
        ("3", False),
    ]


async def test_c083_three_replicas_one_of_them_restarted_again_and_again(services: Running) -> None:
    await services.start(replicas=3, workers=2, queue_ticket_s=30.0)
    players = [services.player(f"p{number}") for number in range(120)]
    ended = asyncio.Event()

    async def keep_restarting() -> int:
        times = 0
        while not ended.is_set():
            await services.restart(0)
            times += 1
        return times

    restarts = asyncio.create_task(keep_restarting())
    for start in range(0, len(players), 12):
        await asyncio.gather(*(player.queue(replica=1 + start % 2) for player in players[start : start + 12]))
    async with asyncio.timeout(60):
        outcomes = await asyncio.gather(*(player.outcome(1 + number % 2) for number, player in enumerate(players)))
    ended.set()
    assert await restarts > 0
    tables = Counter(outcome.table_id for outcome in outcomes)
    assert len(tables) == 30
    assert set(tables.values()) == {4}
    found = Counter[str]()
    for table_id in tables:
        accounts = await seated(players[0], table_id)
        assert {
            player.account_id for player, outcome in zip(players, outcomes, strict=True) if outcome.table_id == table_id
        } == set(accounts)
        found.update(accounts)
    assert set(found.values()) == {1}
    assert len(found) == 120


async def test_a_match_whose_matcher_died_is_made_by_another(services: Running) -> None:
    """Whoever took the tickets may end before the table is there; until then its players wait on."""
    await services.start(replicas=1, workers=0)
    players = [services.player(str(number)) for number in range(4)]
    for player in players:
        await player.queue()

    async def taken() -> bool:
        return bool(await services.redis.call(b"HLEN", keys.PENDING, key=keys.PENDING))

    await eventually(taken)
    assert (await players[0].queue()).ticket_id
    assert await players[0].seat() == ""
    assert (await anext(aiter(players[0].watch()))).state == WAITING
    with pytest.raises(EastwindError) as refused:
        await players[0].create()
    assert refused.value.reason == "ALREADY_PLAYING"
    await services.add_worker()
    await services.restart(0)
    outcomes = await asyncio.gather(*(player.outcome() for player in players))
    assert len({outcome.table_id for outcome in outcomes}) == 1
    assert len(set(await seated(players[0], outcomes[0].table_id))) == 4
    assert not await taken()


async def test_a_match_that_no_worker_will_ever_make_frees_its_players(services: Running) -> None:
    await services.start()
    player = services.player("one")
    entered = await player.queue()
    account, table = player.account_id, "A" * 22
    redis = services.redis
    await redis.call(b"HSET", keys.ticket(account), b"state", b"matched", b"table", table, key=keys.ticket(account))
    await redis.call(b"ZREM", keys.queue(f"{RULESET}:casual"), account, key=keys.queue(f"{RULESET}:casual"))
    await redis.call(b"SET", keys.seat(account), table, key=keys.seat(account))
    lost = '{"at": 1, "about": "gone-v1:casual", "event": "e", "tickets": [["%s", "%s", "one", "0"]]}'
    await redis.call(b"HSET", keys.PENDING, table, lost % (account, entered.ticket_id), key=keys.PENDING)
    assert (await player.outcome()).state == LEFT
    assert (await player.queue()).ticket_id not in ("", entered.ticket_id)


def test_a_match_is_always_the_same_table() -> None:
    tickets = tuple(
        MatchedTicket(f"account-{number}", f"ticket-{number}", str(number), False, 0) for number in range(3)
    )
    dealers = set()
    for table in ("A" * 22, "B" * 22, "C" * 22, "D" * 22, "E" * 22, "F" * 22):
        match = Match(table, QueueName(RULESET, True), tickets, 5, "event")
        request = table_request(match, 2)
        assert table_request(match, 2) == request
        assert not request.settings.rated
        bot = next(seat for seat, player in enumerate(request.players) if player.bot_level)
        assert request.players[bot] == computer_player(table, bot, 2)
        dealers.add((request.first_dealer, bot))
    assert len(dealers) > 1
