"""Accepted, fenced, persisted actions of a table worker against a unary echo: ``python -m tests.load.bench_actions``.

One table worker runs in a process of its own, with a real Valkey and its append-only file. This process plays four
players at each of 64 tables through one Attach stream, as a gateway does: a player answers with a random legal action
as soon as its view asks it, so about one action of every table is always on its way, and every action reaches four
seats. The peer is the smallest server that gRPC for asyncio can be, a unary echo in a process of its own on the same
event loop, with 64 callers.

Rounds go through `everysec`, `always` and the echo in turns, and every rate is that of one core: actions, or calls, by
the processor time that their server spent. Goals 8, 9 and 10 of the performance page; the 10th percentiles are judged.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from deploy.local.ports import LOOPBACK, free_port
from deploy.local.processes import ProcessFleet
from deploy.local.roster import ORDER, common_settings
from deploy.local.stack import BackingStack
from eastwind.accounts.v1 import accounts_service_pb2, accounts_service_pb2_grpc
from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import table_service_pb2, table_service_pb2_grpc, view_pb2
from eastwind.type.v1 import settings_pb2
from libs.chassis.channels import Channels
from libs.chassis.identifiers import new_table_id
from libs.chassis.redis_client import RedisClient
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry
from libs.mahjong import variants  # noqa: F401  registers the rulesets
from libs.mahjong.engine.table import decide
from libs.mahjong.engine.table_commands import Act
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.engine.views import view_of
from libs.mahjong.simulation import SimulatedTable, seeded_policy

RULESET = "hkos-3-v1"
TABLES = 64
CALLERS = 64
WARM_S = 2.0
ECHO = "/bench.Echo/Say"
PAYLOAD = b"x" * 64
GOALS = {"everysec": 4.0, "always": 3.5}
ALWAYS_TO_EVERYSEC = 0.75
BESIDE_RULES_US = 40.0


def processor_s(pid: int) -> float:
    """The processor time that a process has spent, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """All players at all tables, on one stream to the worker. `go` lets them act, `rest` waits until they have."""

    def __init__(self, stub: Any, source: random.Random) -> None:
        self._stub = stub
        self._source = source
        self._out: list[table_service_pb2.GatewayFrame] = []
        self._wake = asyncio.Event()
        self._asked: dict[int, tuple[int, int]] = {}
        self._held: list[table_service_pb2.GatewayFrame] = []
        self._going = False
        self._sent = 0
        self._at = 0
        self._tables: dict[int, str] = {}
        self._hands: dict[int, int] = {}
        self._stream: asyncio.Task[None] | None = None
        self._quiet = asyncio.Event()
        self.accepted = 0
        self.refused: dict[int, int] = {}

    def watch(self, table_id: str, token: str) -> None:
        """Have a player watch its table."""
        number = len(self._tables) + 1
        self._tables[number] = table_id
        self._put(
            table_service_pb2.GatewayFrame(
                subscribe=table_service_pb2.Subscribe(subscription=number, table_id=table_id, access_token=token)
            )
        )

    def start(self) -> None:
        """Open the stream."""
        self._stream = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Close the stream."""
        assert self._stream is not None
        self._stream.cancel()
        await asyncio.gather(self._stream, return_exceptions=True)

    def go(self) -> None:
        """Let the players act."""
        self._going = True
        for frame in self._held:
            self._send(frame)
        self._held.clear()

    async def rest(self) -> None:
        """Hold the players and wait for the answers that are under way."""
        self._going = False
        while self._at < self._sent:
            self._quiet.clear()
            await self._quiet.wait()

    async def _run(self) -> None:
        async for response in self._stub.Attach(self._requests()):
            for frame in response.frames:
                kind = frame.WhichOneof("frame")
                if kind == "delivery":
                    update = frames_pb2.ServerFrame.FromString(frame.delivery.frame).table
                    for subscription in frame.delivery.subscriptions:
                        self._see(subscription, update)
                elif kind == "answer":
                    self._at += 1
                    if frame.answer.reason:
                        self.refused[frame.answer.reason] = self.refused.get(frame.answer.reason, 0) + 1
                    else:
                        self.accepted += 1
                    if self._at == self._sent:
                        self._quiet.set()
                else:
                    raise RuntimeError(f"a watch ended: {frame}")

    def _see(self, subscription: int, update: view_pb2.TableUpdate) -> None:
        if update.HasField("view"):
            self._hands[subscription] = update.view.hand
            if update.view.phase == view_pb2.TABLE_PHASE_READY:
                self._ready(subscription, update.view.hand)
        for event in update.events:
            if event.HasField("ready_step_opened"):
                self._hands[subscription] = event.ready_step_opened.hand
                self._ready(subscription, event.ready_step_opened.hand)
        decision = update.view.decision if update.HasField("view") else update.decision
        if not decision.options or self._asked.get(subscription) == (self._hands[subscription], decision.decision):
            return
        self._asked[subscription] = (self._hands[subscription], decision.decision)
        action = self._source.choice(decision.options).action
        self._act(subscription, choose=table_service_pb2.Choose(decision=decision.decision, action=action))

    def _ready(self, subscription: int, hand: int) -> None:
        self._act(subscription, ready=table_service_pb2.Ready(hand=hand))

    def _act(self, subscription: int, **command: Any) -> None:
        frame = table_service_pb2.GatewayFrame(
            command=table_service_pb2.SubscriberCommand(
                subscription=subscription,
                command=table_service_pb2.TableCommand(command_id=f"{self._source.getrandbits(64):016x}", **command),
            )
        )
        if self._going:
            self._send(frame)
        else:
            self._held.append(frame)

    def _send(self, frame: table_service_pb2.GatewayFrame) -> None:
        self._sent += 1
        self._put(frame)

    def _put(self, frame: table_service_pb2.GatewayFrame) -> None:
        self._out.append(frame)
        self._wake.set()

    async def _requests(self) -> AsyncIterator[table_service_pb2.AttachRequest]:
        while True:
            await self._wake.wait()
            self._wake.clear()
            frames, self._out = self._out, []
            yield table_service_pb2.AttachRequest(frames=frames)


async def actions_slice(load: Load, pid: int, seconds: float) -> tuple[float, float]:
    """Actions by a second of the worker's processor time, and by a second of the clock."""
    before, spent, started = load.accepted, processor_s(pid), time.perf_counter()
    load.go()
    await asyncio.sleep(seconds)
    await load.rest()
    done, spent = load.accepted - before, processor_s(pid) - spent
    return done / spent, done / (time.perf_counter() - started)


async def echo_slice(say: Any, pid: int, seconds: float) -> tuple[float, float]:
    """Calls by a second of the echo's processor time, and by a second of the clock."""
    spent, started = processor_s(pid), time.perf_counter()
    calls = 0

    async def caller() -> None:
        nonlocal calls
        while time.perf_counter() - started < seconds:
            await say(PAYLOAD)
            calls += 1

    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return calls / (processor_s(pid) - spent), calls / (time.perf_counter() - started)


def rules_us(hands: int = 12) -> float:
    """The time that the rules alone take to decide an action, in microseconds of processor time."""
    policy = seeded_policy(b"bench")
    table = SimulatedTable.open(RULESET, [policy] * 4, b"bench")
    asked: list[tuple[TableState, Act]] = []
    for _ in range(hands):
        table.get_ready()
        while table.state.awaited:
            state, seat = table.state, table.state.awaited[0]
            assert state.hand is not None
            assert state.hand.decision is not None
            action = policy(view_of(state.hand, seat))
            assert action is not None
            command = Act(f"act/{len(table.entries)}", state.now_ms, seat, state.hand.decision.decision, action)
            asked.append((state, command))
            table.send(command)
        table.play_hand()
    started = time.process_time()
    for state, command in asked:
        decide(state, command)
    return (time.process_time() - started) / len(asked) * 1e6


async def serve_echo(port: int) -> None:
    """The peer: what comes in goes out."""

    async def say(request: bytes, _context: Any) -> bytes:
        return request

    server = grpc.aio.server()
    handler = grpc.method_handlers_generic_handler("bench.Echo", {"Say": grpc.unary_unary_rpc_method_handler(say)})
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port(f"{LOOPBACK}:{port}")
    await server.start()
    await server.wait_for_termination()


async def measure(rounds: int, seconds: float, tables: int) -> int:
    """Start everything, measure in turns, print; returns 1 when a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        async with BackingStack(Path(folder), fsync=False) as stack:
            fleet = ProcessFleet(
                stack,
                settings={"": {"log_level": "warning"}, "table": {"table_passivate_after_s": 600.0}},
                copies={**dict.fromkeys(ORDER, 0), "table": 1, "scoring": 1, "accounts": 1},
            )
            await fleet.start()
            port = free_port()
            echo = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.load.bench_actions", "--echo", str(port)
            )
            try:
                return await _measure(stack, fleet, echo.pid, port, rounds, seconds, tables)
            finally:
                echo.kill()
                await echo.wait()
                await fleet.stop(5.0)


async def _measure(
    stack: BackingStack, fleet: ProcessFleet, echo_pid: int, port: int, rounds: int, seconds: float, tables: int
) -> int:
    worker, accounts = fleet["table", 1], fleet["accounts", 1]
    assert worker.pid is not None
    settings = read(
        ServiceSettings,
        **common_settings(stack),
        accounts_address=(f"{LOOPBACK}:{accounts.grpc_port}",),
        rpc_timeout_s=30.0,
    )
    telemetry = Telemetry("bench")
    gateway, matchmaking = Channels("gateway", settings, telemetry), Channels("matchmaking", settings, telemetry)
    address = f"{LOOPBACK}:{worker.grpc_port}"
    load = Load(table_service_pb2_grpc.TableServiceStub(gateway.at(address)), random.Random(1))
    async with RedisClient(stack.valkey_url) as store, grpc.aio.insecure_channel(f"{LOOPBACK}:{port}") as channel:
        say = channel.unary_unary(ECHO)
        await say(PAYLOAD, wait_for_ready=True)
        await _seat(gateway, matchmaking, address, tables, load)
        load.start()
        await actions_slice(load, worker.pid, WARM_S)
        found: dict[str, list[tuple[float, float]]] = {"everysec": [], "always": [], "echo": []}
        for _ in range(rounds):
            for fsync in ("everysec", "always"):
                await store.call("CONFIG", "SET", "appendfsync", fsync, key=b"")
                found[fsync].append(await actions_slice(load, worker.pid, seconds))
            found["echo"].append(await echo_slice(say, echo_pid, seconds))
        await load.stop()
    await gateway.close()
    await matchmaking.close()
    await telemetry.close()
    return _report(found, load)


async def _seat(gateway: Channels, matchmaking: Channels, address: str, tables: int, load: Load) -> None:
    accounts = accounts_service_pb2_grpc.AccountsServiceStub(gateway.to("accounts"))
    stub = table_service_pb2_grpc.TableServiceStub(matchmaking.at(address))
    settings = settings_pb2.TableSettings(ruleset=RULESET, speed=settings_pb2.SPEED_RELAXED)
    for number in range(tables):
        sessions = [
            (
                await accounts.RegisterGuest(accounts_service_pb2.RegisterGuestRequest(name=f"Bench {number} {seat}"))
            ).session
            for seat in range(4)
        ]
        players = [settings_pb2.Player(account_id=each.account_id, name=each.name, guest=True) for each in sessions]
        table_id = new_table_id()
        await stub.CreateTable(
            table_service_pb2.CreateTableRequest(table_id=table_id, settings=settings, players=players)
        )
        for session in sessions:
            load.watch(table_id, session.access_token)


def _report(found: dict[str, list[tuple[float, float]]], load: Load) -> int:
    for name, rates in found.items():
        core, clock = (statistics.median(column) for column in zip(*rates, strict=True))
        print(f"{name:9} {core:8,.0f}/s of a core   {clock:8,.0f}/s by the clock   (medians of {len(rates)} rounds)")
    print(f"accepted {load.accepted:,}, refused {dict(load.refused) or 'none'}")
    missed = 0
    for name, goal in GOALS.items():
        missed += _judge(f"{name} to echo", found[name], found["echo"], goal)
    missed += _judge("always to everysec", found["always"], found["everysec"], ALWAYS_TO_EVERYSEC)
    rules = rules_us()
    beside = 1e6 / statistics.median(core for core, _ in found["everysec"]) - rules
    met = beside <= BESIDE_RULES_US
    print(
        f"beside the rules' own {rules:.0f} us: {beside:.0f} us an action  "
        f"goal {BESIDE_RULES_US:.0f}  {'met' if met else 'MISSED'}"
    )
    return int(missed > 0 or not met)


def _judge(what: str, ours: list[tuple[float, float]], theirs: list[tuple[float, float]], goal: float) -> bool:
    ratios = sorted(mine[0] / other[0] for mine, other in zip(ours, theirs, strict=True))
    tenth = statistics.quantiles(ratios, n=10)[0] if len(ratios) > 1 else ratios[0]
    missed = tenth < goal
    print(
        f"{what:18} {statistics.median(ratios):5.2f} times (p10 {tenth:.2f})  "
        f"goal {goal:g}  {'MISSED' if missed else 'met'}"
    )
    return missed


def main() -> int:
    """Read the options, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a slice")
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--echo", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    import uvloop

    if options.echo:
        uvloop.run(serve_echo(options.echo))
        return 0
    return int(uvloop.run(measure(options.rounds, options.seconds, options.tables)))


if __name__ == "__main__":
    sys.exit(main())
