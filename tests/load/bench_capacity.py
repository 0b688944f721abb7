"""What one table, hand, unit and log-in costs the servers behind: ``python -m tests.load.bench_capacity``.

The figures that deploy/docs/capacity.md multiplies. Hands are played by computer players of the middle level at rated
tables of Hong Kong mahjong; store and databases are real ones, and services' own handlers write into them. Bytes and
counts depend on no machine; times are processor time of this process, or of the server where it says so.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from deploy.local.postgres import PostgresServer
from deploy.local.valkey import ValkeyServer
from libs.chassis import database
from libs.chassis.events import EventProducer, event_headers
from libs.chassis.events.topics import HANDS
from libs.chassis.redis_client import RedisClient
from libs.chassis.settings import read
from libs.chassis.table_store import OutboxMessage, TableStore
from libs.chassis.telemetry import Telemetry
from libs.contracts.records import record_to_proto
from libs.mahjong.bots import Level, choose
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.codec import encode_entry
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import Occupant
from libs.mahjong.engine.table_snapshot import encode_state
from libs.mahjong.engine.views import SeatView
from libs.mahjong.record import HandRecord
from libs.mahjong.simulation import SimulatedTable
from services.accounts.passwords import Passwords
from services.accounts.settings import AccountsSettings
from services.history.app import MIGRATIONS as HISTORY_MIGRATIONS
from services.history.storing import Store
from services.ratings.app import MIGRATIONS as RATINGS_MIGRATIONS
from services.ratings.model import RatingModel
from services.ratings.outbox import Outbox
from services.ratings.rating import Rater
from services.ratings.settings import RatingsSettings
from tests.service.ratings.publishing import delivered, finished

RULESET = "hkos-3-v1"
WORKER = "bench"
NOWHERE = ("127.0.0.1:1",)


@dataclass(slots=True)
class Played:
    """A hand: its log, the log's half that was written when the hand was half over, its record."""

    table_id: str
    entries: list[Entry]
    snapshot: bytes
    record: HandRecord

    @property
    def choices(self) -> int:
        """Commands of players that were accepted."""
        return sum(entry.command_id.startswith("act/") for entry in self.entries)


class Figures:
    """Says what was measured."""

    def add(self, what: str, value: float, unit: str) -> None:
        text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        print(f"{what:<66} {text} {unit}".rstrip(), flush=True)


def hands(number: int) -> Iterator[Played]:
    """Hands at tables of their own, with four accounts of a few hundred."""

    def policy(seat: int, table: int) -> Callable[[SeatView], Action | None]:
        return lambda view: choose(view, Level.MEDIUM, seed=table * 4 + seat)

    for table in range(number):
        seed = table.to_bytes(32)
        players = [Occupant(f"account-{(table * 7 + seat * 101) % 404}", f"Player {seat}") for seat in range(4)]
        simulated = SimulatedTable.open(
            RULESET,
            [policy(seat, table) for seat in range(4)],
            seed,
            table_id=f"capacity{table:014d}",
            rated=True,
            players=players,
        )
        snapshot = encode_state(simulated.state)
        record = simulated.play_hand()
        yield Played(f"capacity{table:014d}", simulated.entries, snapshot, record)


async def used_memory(client: RedisClient) -> int:
    """Bytes that the store says it uses."""
    text = (await client.call("INFO", "memory", key=b"")).decode()
    return int(next(line for line in text.splitlines() if line.startswith("used_memory:")).partition(":")[2])


async def measure_store(folder: Path, played: list[Played], figures: Figures) -> None:
    async with ValkeyServer(folder) as server, RedisClient(server.url) as client:
        store = TableStore(client)
        before = await used_memory(client)
        for hand in played:
            made = await store.create(hand.table_id, WORKER, encode_entry(hand.entries[0]), hand.snapshot, due_ms=1)
            half = [encode_entry(entry) for entry in hand.entries[1 : len(hand.entries) // 2]]
            await store.append(hand.table_id, WORKER, made.epoch, 1, half)
        tables = await used_memory(client)
        figures.add("store: a table in the middle of a hand", (tables - before) / len(played), "bytes")
        for hand in played:
            envelope = finished(record_to_proto(hand.record))
            message = OutboxMessage(
                HANDS, hand.table_id, envelope.SerializeToString(), event_headers(envelope.event_id, {})
            )
            owner = await store.owner(hand.table_id)
            await store.append(hand.table_id, WORKER, owner.epoch, owner.sequence, [b"over"], outbox=[message])
        figures.add("store: a finished hand in the outbox", (await used_memory(client) - tables) / len(played), "bytes")


async def timed(work: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Seconds by the clock and of this process's processor."""
    wall, own = time.perf_counter(), time.process_time()
    await work()
    return time.perf_counter() - wall, time.process_time() - own


async def size_of(url: str) -> int:
    """Bytes of all tables of a database with their indexes, vacuumed."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("VACUUM FULL")
        return int(
            await connection.fetchval(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
        )
    finally:
        await connection.close()


async def measure_databases(folder: Path, played: list[Played], figures: Figures) -> None:
    events = [delivered(HANDS, finished(record_to_proto(hand.record))) for hand in played]
    async with PostgresServer(folder) as server:
        for name, migrations in (("history", HISTORY_MIGRATIONS), ("ratings", RATINGS_MIGRATIONS)):
            url = await server.create_database(name)
            await database.migrate(url, migrations, version_table=f"{name}_version")
            engine = database.engine(url)
            telemetry = Telemetry(name)
            producer = EventProducer(NOWHERE, telemetry, idempotent=False)
            settings = read(RatingsSettings, database_url=url)
            handler = (
                Store(engine, telemetry.metrics)
                if name == "history"
                else Rater(engine, RatingModel(), Outbox(settings, engine, producer, telemetry), telemetry)
            )
            before = await size_of(url)

            async def take_all(handler: Callable[..., Awaitable[None]] = handler) -> None:
                for event in events:
                    await handler(event)

            wall, own = await timed(take_all)
            figures.add(f"{name}: a hand's event, by the clock, one after the other", wall / len(events) * 1000, "ms")
            figures.add(f"{name}: a hand's event, processor of the service", own / len(events) * 1000, "ms")
            figures.add(
                f"{name}: a rated hand on disk, with indexes", (await size_of(url) - before) / len(events), "bytes"
            )
            await engine.dispose()
            await producer.stop(0.0)
            await telemetry.close()


async def measure_log_ins(figures: Figures) -> None:
    passwords = Passwords(read(AccountsSettings, database_url="postgresql://localhost/none", service_key="x" * 32))
    digest = await passwords.hash("a password")
    before = time.process_time()
    for _ in range(20):
        assert await passwords.verify("a password", digest)
    figures.add("accounts: a log-in, processor", (time.process_time() - before) / 20 * 1000, "ms")


async def measure(number: int) -> None:
    figures = Figures()
    played = list(hands(number))
    figures.add("commands of players in a hand, median", statistics.median(hand.choices for hand in played), "")
    figures.add("commands of players in a hand, mean", statistics.mean(hand.choices for hand in played), "")
    figures.add("log entries of a hand, mean", statistics.mean(len(hand.entries) for hand in played), "")
    logs = [sum(len(encode_entry(entry)) for entry in hand.entries) for hand in played]
    figures.add("log of a whole hand, encoded", statistics.mean(logs), "bytes")
    records = [len(record_to_proto(hand.record).SerializeToString()) for hand in played]
    figures.add("record of a hand, its message on Kafka", statistics.mean(records), "bytes")
    with tempfile.TemporaryDirectory() as folder:
        await measure_store(Path(folder), played, figures)
        await measure_databases(Path(folder), played, figures)
    await measure_log_ins(figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=400)
    asyncio.run(measure(parser.parse_args().hands))


if __name__ == "__main__":
    main()
