"""`eastwind bot` at a running server."""

from __future__ import annotations

import asyncio
import re

import pytest
from click.testing import CliRunner, Result

from services.cli.main import main
from tests.service.fleet import HKOS, House, easy

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def bot(*options: str) -> Result:
    """Run the command beside the fleet; one at a time, for its output is the process's own."""
    return await asyncio.to_thread(CliRunner().invoke, main, ["bot", *options])


async def test_it_plays_hands_against_computers_and_tells_how_they_ended(house: House) -> None:
    result = await bot("--url", house.calls.base_url, "--name", "Kestrel", "--level", "easy", "--hands", "2")
    assert result.exit_code == 0, result.output
    assert re.search(r"^Kestrel is at http://", result.output)
    assert "Hand 1 (casual): " in result.output
    assert "Hand 2 (casual): " in result.output
    assert result.output.count("Kestrel (you) ") >= 2
    assert result.output.count("  record ") == 2


async def test_it_finds_others_in_the_queue_and_plays_for_ratings(house: House) -> None:
    guests = await asyncio.gather(*(house.guest() for _ in range(3)))

    async def others() -> str:
        tables = await asyncio.gather(*(guest.enter_queue(HKOS, rated=True) for guest in guests))
        await house.play(tables[0], guests, [easy] * 3)
        return tables[0]

    result, table_id = await asyncio.gather(
        bot("--url", house.calls.base_url, "--quick-play", "--rated", "--level", "easy"), others()
    )
    assert result.exit_code == 0, result.output
    assert "Hand 1 (rated): " in result.output
    assert f"record {table_id}-1" in result.output


async def test_it_joins_a_table(house: House) -> None:
    guests = await asyncio.gather(*(house.guest() for _ in range(3)))
    table_id = await house.create(guests[0])
    await house.joinable(table_id, guests[1])
    for guest in guests[1:]:
        await house.join(guest, table_id)
    result, *_ = await asyncio.gather(
        bot("--url", house.calls.base_url, "--join", table_id, "--level", "easy"),
        house.play(table_id, guests, [easy] * 3),
    )
    assert result.exit_code == 0, result.output
    assert f"record {table_id}-1" in result.output


async def test_it_says_clearly_what_is_wrong(house: House) -> None:
    url = house.calls.base_url
    for options, expected in (
        (("--url", "http://127.0.0.1:9"), "no Eastwind answers at http://127.0.0.1:9"),
        (("--url", url, "--ruleset", "chess"), "does not know this ruleset"),
        (("--url", url, "--code", "NOCODE22"), "the invitation code is not right"),
        (("--url", url, "--join", "nonsense"), "table_id is no table id"),
        (("--url", url, "--name", "x" * 200), "the name is too long"),
        (("--url", url, "--table", "--quick-play"), "choose one of"),
        (("--url", url, "--join", "x", "--rated"), "--rated goes with a new one"),
    ):
        result = await bot(*options)
        assert result.exit_code != 0
        assert expected in result.output
        assert "Traceback" not in result.output
