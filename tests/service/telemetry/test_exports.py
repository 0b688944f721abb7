"""What every service of a real fleet exports is what the telemetry contract says, after people have played."""

from __future__ import annotations

import asyncio

import pytest

from tests.service.fleet import HKOS, House, easy
from tests.service.telemetry.exported import differences, families

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def play_rated(house: House, hands: int) -> tuple[str, list[str]]:
    """Four guests meet in the queue and play; returns their table and everybody's id, once history has all hands."""
    players = await asyncio.gather(*(house.guest() for _ in range(4)))
    table_id = (await asyncio.gather(*(player.enter_queue(HKOS, rated=True) for player in players)))[0]
    results = await house.play(table_id, players, [easy] * 4, hands=hands)
    for result in results[0]:
        await house.found(result.settled.record_id)
    return table_id, [player.session.account_id for player in players]


async def test_c127_services_export_what_the_contract_names_and_no_label_carries_an_id(house: House) -> None:
    table_id, accounts = await play_rated(house, hands=1)
    problems = []
    for service, copies in house.fleet.services.items():
        for each in copies:
            found = await families(house.http, each.http_address)
            problems += differences(service, found, [table_id, *accounts])
    assert problems == []


async def test_what_players_do_is_counted_where_operators_look(house: House) -> None:
    await play_rated(house, hands=1)

    async def total(service: str, name: str, **labels: str) -> float:
        found = await families(house.http, house.fleet.services[service][0].http_address)
        samples = [
            sample.value
            for family in found.values()
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]
        return sum(samples)

    accepted = await total("gateway", "eastwind_edge_actions_total", outcome="accepted")
    assert accepted == await total("gateway", "eastwind_edge_action_seconds_count") > 0
    assert accepted == await total("table", "eastwind_table_actions_total", outcome="accepted")
    assert await total("table", "eastwind_decisions_total", kind="turn") > 0
    assert await total("table", "eastwind_hands_total") >= 1
    assert await total("table", "eastwind_live_tables") >= 1
    assert await total("matchmaking", "eastwind_queue_wait_seconds_count") >= 4
    assert await total("history", "eastwind_hand_delivery_seconds_count") >= 1
    assert await total("ratings", "eastwind_rating_changes_total") >= 4
    assert await total("ratings", "eastwind_rating_delivery_seconds_count") >= 1
    assert await total("clock", "eastwind_redis_commands_total") > 0
