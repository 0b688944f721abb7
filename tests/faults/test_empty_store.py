"""The table store is lost without any copy: running tables are over, and nothing else is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deploy.local.fleet import Fleet
from deploy.local.ports import LOOPBACK, free_port
from deploy.local.stack import BackingStack
from tests.backing import BACKING
from tests.faults.players import Four
from tests.service.fleet import QUICK

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]


async def test_an_empty_store_ends_running_tables_and_nothing_else(tmp_path: Path) -> None:
    port = free_port()
    settings = {**QUICK, "gateway": {**QUICK["gateway"], "edge_port": port}}
    async with BackingStack(tmp_path, backing=BACKING, fsync=False) as stack:
        fleet = Fleet(stack, settings=settings)
        try:
            await fleet.start()
            async with Four([f"http://{LOOPBACK}:{port}"], rated=True) as four:
                await four.play_on(1)
                hand = await four.finish_hand()
                record = await four.check_record(hand)
                for player in four.players:
                    await player.wait_for_ratings([f"{four.table_id}-{hand}"])
                await four.next_hand()
                await four.play_on(4)

                await fleet.stop(0.0)
                await stack.valkey.kill()
                shutil.rmtree(stack.valkey.folder)
                await stack.valkey.start()
                await fleet.start()

                await four.until(lambda: all(player.ended for player in four.players), 60)
                for player in four.players:
                    await player.refresh()
                    assert "tableId" not in await player.call("Matchmaking/GetSeat", {})
                    await player.wait_for_ratings([f"{four.table_id}-{hand}"])
                assert await four.players[0].record(record.record_id) == record
            async with Four([f"http://{LOOPBACK}:{port}"]) as others:
                await others.play_on(2)
        finally:
            await fleet.stop(0.0)
