"""Appends through our client against the ceiling of a raw socket: `python -m tests.load.bench_store`.

The raw side sends the same append scripts, packed beforehand, 64 at a time over a blocking socket, and only counts the
replies. Both sides write 200-byte entries to 64 tables of one real Valkey with its append-only file, in turns. Goal 11:
our rate is at least 0.6 of the ceiling, the 99th percentile at most 3 times the median at 64 in flight, and no caller
starves.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import hiredis

from deploy.local.valkey import ValkeyServer
from libs.chassis.multiplexed import pack
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import TableStore, Writer
from libs.chassis.table_store.keys import TableKeys
from libs.chassis.table_store.lua import script

WORKER = "bench"
ENTRY = b"x" * 200
TABLES = 64
DUE_MS = 1_800_000_000_000


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of our client: appends a second, latencies in seconds, appends of the least and most served table."""

    rate: float
    latencies: list[float]
    least: int
    most: int


def packed_appends(tables: list[str], sequences: dict[str, int], number: int) -> list[bytes]:
    """The next `number` appends as bytes, table after table."""
    append = script("append")
    commands = []
    for index in range(number):
        table = tables[index % len(tables)]
        keys = TableKeys.of(table)
        names = (keys.owner, keys.log, keys.snapshot, keys.due, keys.claimed, keys.outbox)
        arguments = (table, WORKER, 1, sequences[table], b"s", DUE_MS, b"0", b"", b"", 1, ENTRY)
        commands.append(pack((b"EVALSHA", append.digest, len(names), *names, *arguments)))
        sequences[table] += 1
    return commands


def raw_rate(port: int, commands: list[bytes], in_flight: int) -> float:
    """Appends a second over a blocking socket with `in_flight` of them in each round trip."""
    batches = [b"".join(commands[at : at + in_flight]) for at in range(0, len(commands), in_flight)]
    reader = hiredis.Reader()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        started = time.perf_counter()
        received = 0
        for batch in batches:
            connection.sendall(batch)
            wanted = min(received + in_flight, len(commands))
            while received < wanted:
                reader.feed(connection.recv(65536))
                while (reply := reader.gets()) is not False:
                    assert reply[0] == 0, reply
                    received += 1
        return len(commands) / (time.perf_counter() - started)


async def our_slice(writer: Writer, tables: list[str], sequences: dict[str, int], seconds: float) -> Slice:
    """Every table appends again as soon as its append is acknowledged."""
    latencies: list[float] = []
    before = dict(sequences)
    ends = time.perf_counter() + seconds

    async def play(table: str) -> None:
        while (started := time.perf_counter()) < ends:
            sequences[table] = await writer.append(table, 1, sequences[table], [ENTRY], due_ms=DUE_MS)
            latencies.append(time.perf_counter() - started)

    started = time.perf_counter()
    await asyncio.gather(*(play(table) for table in tables))
    elapsed = time.perf_counter() - started
    served = [sequences[table] - before[table] for table in tables]
    return Slice(len(latencies) / elapsed, latencies, min(served), max(served))


async def measure(server: ValkeyServer, rounds: int, seconds: float, crowd: int) -> dict[str, float]:
    """The medians of the rounds; prints one line a round."""
    ratios, spreads, rates = [], [], []
    async with RedisClient(server.url) as client:
        store = TableStore(client)
        writer = Writer(store, WORKER)
        ours, raws = ([f"{side}-{number}" for number in range(TABLES)] for side in ("ours", "raw"))
        sequences = dict.fromkeys([*ours, *raws], 1)
        for table in sequences:
            await store.create(table, WORKER, ENTRY)
        await client.call("SCRIPT", "LOAD", script("append").source, key=b"")
        for number in range(rounds + 1):
            commands = packed_appends(raws, sequences, int(20_000 * seconds) // TABLES * TABLES)
            ceiling = await asyncio.to_thread(raw_rate, server.port, commands, TABLES)
            result = await our_slice(writer, ours, sequences, seconds)
            if number == 0:
                continue
            percentiles = statistics.quantiles(result.latencies, n=100)
            ratios.append(result.rate / ceiling)
            spreads.append(percentiles[98] / percentiles[49])
            rates.append(result.rate)
            print(
                f"round {number}: raw {ceiling:8,.0f}/s  ours {result.rate:8,.0f}/s  ratio {ratios[-1]:.2f}  "
                f"p50 {percentiles[49] * 1000:.2f} ms  p99 {percentiles[98] * 1000:.2f} ms  "
                f"served {result.least}..{result.most}"
            )
        many = [f"crowd-{number}" for number in range(crowd)]
        sequences = dict.fromkeys(many, 1)
        await asyncio.gather(*(store.create(table, WORKER, ENTRY) for table in many))
        crowded = await our_slice(writer, many, sequences, seconds)
        print(f"{crowd} callers: {crowded.rate:,.0f}/s, each served {crowded.least}..{crowded.most} times")
        return {
            "ratio": statistics.median(ratios),
            "p99_to_p50": statistics.median(spreads),
            "rate": statistics.median(rates),
            "least_of_crowd": crowded.least / max(1, crowded.most),
        }


async def main(rounds: int, seconds: float, crowd: int) -> dict[str, float]:
    """Start a Valkey, measure, stop it."""
    with tempfile.TemporaryDirectory() as folder:
        async with ValkeyServer(Path(folder)) as server:
            return await measure(server, rounds, seconds, crowd)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a slice")
    parser.add_argument("--crowd", type=int, default=4000, help="callers in the test of fairness")
    options = parser.parse_args()
    found = asyncio.run(main(options.rounds, options.seconds, options.crowd))
    print(f"median ratio {found['ratio']:.2f} (goal 0.6)   p99/p50 {found['p99_to_p50']:.2f} (goal 3)")
    sys.exit(0 if found["ratio"] >= 0.6 and found["p99_to_p50"] <= 3 and found["least_of_crowd"] > 0.5 else 1)
