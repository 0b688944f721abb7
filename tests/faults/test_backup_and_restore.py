"""All is lost and restored by the commands of ``deploy/docs/backup-and-restore.md``, with players at the table."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from click.testing import CliRunner

from deploy.kafka.server import java_command
from deploy.local.fleet import Fleet
from deploy.local.ports import free_port
from deploy.local.stack import BackingStack
from services.cli.main import main
from tests.backing import BACKING
from tests.documented import Operator, libpq
from tests.faults.players import PLAYING, RULESET, CallRefused, Four, Player
from tests.service.fleet import QUICK

pytestmark = [pytest.mark.production, pytest.mark.faults, pytest.mark.timeout(600)]
_PASSWORD = "a password of some length"


def settings(edge_port: int) -> dict[str, dict[str, Any]]:
    """Nobody waits, and the outbox is kept for as long as the test takes."""
    return {
        **QUICK,
        "": {**QUICK[""], "outbox_retain_s": 600.0},
        "gateway": {**QUICK["gateway"], "edge_port": edge_port},
    }


@asynccontextmanager
async def running(stack: BackingStack, edge_port: int) -> AsyncIterator[Fleet]:
    """All services on a stack that runs."""
    fleet = Fleet(stack, settings=settings(edge_port))
    await fleet.start()
    try:
        yield fleet
    finally:
        await fleet.stop(0.0)


def operator_of(stack: BackingStack, backup: Path, programs: Path) -> Operator:
    """An operator who knows the addresses of a stack."""
    consumer_groups = programs / "kafka-consumer-groups.sh"
    command = shlex.join(java_command("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"))
    consumer_groups.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    consumer_groups.chmod(0o755)
    environment = {
        **libpq(stack.postgres_url()),
        "BACKUP": str(backup),
        "REDIS_HOST": "127.0.0.1",
        "REDIS_PORT": str(stack.valkey.port),
        "REDIS_DATA": str(stack.valkey.folder),
        "KAFKA": stack.kafka_bootstrap,
        "SINCE": (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000"),
    }
    return Operator(
        "backup-and-restore.md", environment, [programs, stack.postgres.programs, Path(sys.executable).parent]
    )


async def stored_records(stack: BackingStack) -> dict[str, bytes]:
    """Every record that history has, by id."""
    connection = await asyncpg.connect(stack.postgres_url("history"), timeout=10)
    try:
        return {row["record_id"]: row["content"] for row in await connection.fetch("SELECT * FROM records")}
    finally:
        await connection.close()


async def changes_of(four: Four) -> list[dict[str, Any]]:
    """What every rated unit did to every player, the newest unit first."""
    found = []
    for player in four.players:
        answer = await player.call("Ratings/GetHistory", {"accountId": player.account_id, "ruleset": RULESET})
        found += [{**change, "accountId": player.account_id} for change in answer["changes"]]
    return sorted(found, key=lambda change: (-int(change["unitId"].rpartition("-")[2]), change["accountId"]))


async def finish_rated_hand(four: Four, before: list[str]) -> str:
    """Let the running hand end, recorded and rated after those ``before``, newest first; returns its unit's id."""
    hand = await four.finish_hand()
    await four.check_record(hand)
    unit = f"{four.table_id}-{hand}"
    for player in four.players:
        await player.wait_for_ratings([unit, *before])
    return unit


async def verify_by_hand(four: Four, record_id: str) -> None:
    """A player takes the record out and checks it with the command."""
    exported = await four.players[0].call("History/ExportRecord", {"recordId": record_id})
    ran = await asyncio.to_thread(CliRunner().invoke, main, ["verify", "-"], input=exported["content"])
    assert ran.exit_code == 0, ran.output


@dataclass(frozen=True, slots=True)
class Loss:
    """What is lost besides the databases and the table store, and by which blocks the store is copied and restored."""

    copy: str
    restore: str
    with_the_topics: bool


@pytest.mark.parametrize(
    "loss",
    [
        Loss("copy store files", "restore store files", with_the_topics=False),
        Loss("copy store by port", "restore store from rdb", with_the_topics=True),
    ],
    ids=["topics-outlive", "everything"],
)
async def test_accounts_tables_records_and_ratings_come_back(loss: Loss, tmp_path: Path) -> None:
    backup, programs = tmp_path / "backup", tmp_path / "programs"
    for folder in (backup, programs):
        folder.mkdir()
    edge_port = free_port()
    edge = f"http://127.0.0.1:{edge_port}"
    first = BackingStack(tmp_path / "first", backing=BACKING, fsync=False)
    second = BackingStack(tmp_path / "second", backing=BACKING, fsync=False)
    async with AsyncExitStack() as exits:
        exits.push_async_callback(second.stop)
        exits.push_async_callback(first.stop)
        await first.start()
        operator = operator_of(first, backup, programs)
        async with running(first, edge_port):
            # While they are held, the clock must not play the hand to its end for them.
            four = await exits.enter_async_context(Four([edge], rated=True, speed="SPEED_RELAXED"))
            somebody = Player(four.session, [edge], 0, 0)
            known = {"name": "Kept in the dump", "password": _PASSWORD}
            await somebody.call("Accounts/Register", known)
            await four.play_on(1)
            one = await finish_rated_hand(four, [])
            await somebody.register("Comes again")
            await operator.do("dump databases")
            await somebody.refresh()
            late = {"name": "Later than the dump", "password": _PASSWORD}
            await Player(four.session, [edge], 0, 0).call("Accounts/Register", late)
            await four.next_hand()
            two = await finish_rated_hand(four, [one])
            await four.next_hand()
            await four.play_on(4)
            # A copy by the port takes a few seconds, in which this hand and many more would be over.
            four.hold()
            await operator.do(loss.copy)
            await four.go_on()
            three = await finish_rated_hand(four, [two, one])
            records, changes = await stored_records(first), await changes_of(four)
            four.hold()

        lost = (first.valkey, first.postgres, first.broker)[: 3 if loss.with_the_topics else 2]
        for server in lost:
            await server.kill()
            shutil.rmtree(server.folder)

        await second.postgres.start()
        operator.know(**libpq(second.postgres_url()), REDIS_DATA=str(second.valkey.folder))
        await operator.do("restore databases")
        await operator.do(loss.restore)
        if loss.with_the_topics:
            await second.broker.start()
        else:
            second.broker = first.broker
            await operator.do("replay events")
        await second.start()
        async with running(second, edge_port):
            # Hand three is as far as it was when the store was copied.
            await four.until(lambda: all(each.known and each.view.phase == PLAYING for each in four.players), 90)
            units = [two, one] if loss.with_the_topics else [three, two, one]
            for player in four.players:
                await player.refresh()
                await player.wait_for_ratings(units, within_s=60)
            assert await changes_of(four) == changes[-len(units) * len(four.players) :]
            # The session that was renewed since is not known any more; its account is.
            with pytest.raises(CallRefused):
                await somebody.refresh()
            await somebody.call("Accounts/LogIn", known)
            with pytest.raises(CallRefused):
                await somebody.call("Accounts/LogIn", late)

            await four.go_on()
            assert f"{four.table_id}-{await four.finish_hand()}" == three
            await four.next_hand()
            # Events of a table keep their order: once the fourth hand has counted, the third had its second chance.
            last = await finish_rated_hand(four, [three, two, one])
            restored = await stored_records(second)
            assert restored.keys() == {one, two, three, last}
            same = [one, two] if loss.with_the_topics else [one, two, three]
            assert [restored[each] for each in same] == [records[each] for each in same]
            assert (restored[three] == records[three]) != loss.with_the_topics
            operator.know(EASTWIND_DATABASE_URL=second.postgres_url("ratings"))
            assert await operator.do("recompute ratings") == "4 units rated again, 0 differences.\n"
            assert await operator.do("compare") == ""
            operator.know(EASTWIND_DATABASE_URL=second.postgres_url("history"))
            assert await operator.do("verify records") == "4 records pass, 0 fail.\n"
            await verify_by_hand(four, last)
