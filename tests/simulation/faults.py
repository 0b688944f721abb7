"""The faults of a simulation: which ones, when and for how long follows from the seed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

from tests.simulation.network import NetworkFaults
from tests.simulation.processes import ClockReplica, Gateway, House, Worker
from tests.simulation.store import StoreFaults
from tests.simulation.virtual_time import Process


@dataclass(slots=True)
class Outage:
    """A time, in seconds of the simulation, at which something of the platform did not work; ``edge`` tells that
    players could not reach it, whatever the tables did."""

    kind: str
    begins_s: float
    ends_s: float
    edge: bool


class Fleet(Protocol):
    """The processes that faults befall."""

    house: House
    workers: list[Worker]
    clocks: list[ClockReplica]
    gateways: list[Gateway]

    def start_worker(self) -> Worker: ...

    def start_clock(self) -> ClockReplica: ...

    def start_gateway(self) -> Gateway: ...

    def break_connections(self, share: float) -> None:
        """Break so many of the players' connections."""


KINDS: Final = (
    "kill worker",
    "lose worker",
    "pause worker",
    "drain worker",
    "kill clock",
    "pause clock",
    "kill gateway",
    "pause gateway",
    "store away",
    "store slow",
    "store cut",
    "store unreachable",
    "cut worker from gateway",
    "cut worker from clock",
    "break streams",
    "break players",
    "kill helpers",
)
EDGE: Final = frozenset(("kill gateway", "pause gateway", "cut worker from gateway", "break streams", "break players"))
"""Faults that keep players from their tables though the tables go on."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What may go wrong in a simulation: kinds of faults, ``between_s`` one and the next, and how messages fare all the
    while."""

    name: str
    kinds: tuple[str, ...] = ()
    late: float = 0.0
    lost: float = 0.0
    repeated: float = 0.0
    store_slow: float = 0.0
    store_cut: float = 0.0
    between_s: tuple[float, float] = (0.5, 5.0)


PROFILES: Final = {
    each.name: each
    for each in (
        Profile("calm"),
        Profile("messages", late=0.02, lost=0.02, repeated=0.05),
        Profile("workers", ("kill worker", "lose worker", "pause worker", "drain worker")),
        Profile(
            "store",
            ("store away", "store slow", "store cut", "store unreachable"),
            store_cut=0.0005,
            between_s=(2.0, 8.0),
        ),
        Profile("clocks", ("kill clock", "pause clock", "cut worker from clock"), lost=0.02, repeated=0.1),
        Profile("edge", tuple(sorted(EDGE)), late=0.02),
        Profile(
            "everything",
            KINDS,
            late=0.01,
            lost=0.01,
            repeated=0.03,
            store_slow=0.0005,
            store_cut=0.0003,
            between_s=(1.0, 6.0),
        ),
    )
}


@dataclass
class Faults:
    """Brings the faults of a profile about, until ``end``."""

    fleet: Fleet
    profile: Profile
    chance: Random
    outages: list[Outage] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    _running: list[asyncio.Task[None]] = field(default_factory=list)
    _mending: list[Callable[[], None]] = field(default_factory=list)

    def begin(self) -> None:
        """Let messages fare as the profile says."""
        profile, house = self.profile, self.fleet.house
        house.network.faults = NetworkFaults(
            late_chance=profile.late, lost_chance=profile.lost, repeated_chance=profile.repeated
        )
        house.store.faults = StoreFaults(
            slow_chance=profile.store_slow,
            cut_before_chance=profile.store_cut / 2,
            cut_after_chance=profile.store_cut / 2,
        )

    async def run(self) -> None:
        """One fault after another, some at the same time, until cancelled."""
        if not self.profile.kinds:
            return
        while True:
            await asyncio.sleep(self.chance.uniform(*self.profile.between_s))
            kind = self.chance.choice(self.profile.kinds)
            self.count[kind] += 1
            self.fleet.house.trace.note("faults", kind)
            work = _WORK[kind]
            # Some faults overlap the next one.
            if self.chance.random() < 0.3:
                self._running.append(asyncio.create_task(self._during(kind, work), name="fault"))
            else:
                await self._during(kind, work)

    def end(self) -> None:
        """No more faults: everything that stood still, was cut off or away comes back."""
        house = self.fleet.house
        mending, self._mending = self._mending, []
        for mend in mending:
            mend()
        house.network.faults = NetworkFaults()
        house.store.faults = StoreFaults()
        house.trace.note("faults", "end")

    async def _during(self, kind: str, work: Callable[[Faults], Awaitable[None]]) -> None:
        loop = self.fleet.house.loop
        outage = Outage(kind, loop.time(), float("inf"), kind in EDGE)
        self.outages.append(outage)
        try:
            await work(self)
        finally:
            outage.ends_s = loop.time()

    async def _for(self, seconds: float, mend: Callable[[], None]) -> None:
        """Wait, then mend, unless ``end`` has mended it already."""
        self._mending.append(mend)
        await asyncio.sleep(seconds)
        if mend in self._mending:
            self._mending.remove(mend)
            mend()

    def _worker(self) -> Worker | None:
        live = [each for each in self.fleet.workers if each.process.runs]
        return self.chance.choice(live) if len(live) > 1 else None

    async def _kill_worker(self) -> None:
        worker = self._worker()
        if worker is not None:
            self.fleet.house.kill(worker.process)
            await self._for(self.chance.uniform(0.2, 4.0), self._new_worker)

    async def _lose_worker(self) -> None:
        worker = self._worker()
        if worker is not None:
            self.fleet.house.kill(worker.process, silently=True)
            await self._for(self.chance.uniform(0.2, 4.0), self._new_worker)

    async def _drain_worker(self) -> None:
        worker = self._worker()
        if worker is not None:
            self._new_worker()
            await asyncio.sleep(self.chance.uniform(0.0, 1.0))
            worker.drain()

    def _new_worker(self) -> None:
        self.fleet.start_worker()

    async def _pause(self, process: Process, seconds: float) -> None:
        self.fleet.house.pause(process)
        await self._for(seconds, lambda: self.fleet.house.resume(process))

    async def _pause_worker(self) -> None:
        worker = self._worker()
        if worker is not None:
            await self._pause(worker.process, self.chance.choice((0.3, 1.0, 2.5, 6.0, 12.0)) * self.chance.random())

    async def _kill_clock(self) -> None:
        self.fleet.house.kill(self._clock().process)
        await self._for(self.chance.uniform(0.1, 3.0), lambda: void(self.fleet.start_clock()))

    async def _pause_clock(self) -> None:
        await self._pause(self._clock().process, self.chance.uniform(0.1, 8.0))

    def _clock(self) -> ClockReplica:
        return self.chance.choice([each for each in self.fleet.clocks if not each.process.is_gone])

    async def _kill_gateway(self) -> None:
        self.fleet.house.kill(self._gateway().process)
        await self._for(self.chance.uniform(0.1, 3.0), lambda: void(self.fleet.start_gateway()))

    async def _pause_gateway(self) -> None:
        await self._pause(self._gateway().process, self.chance.uniform(0.1, 8.0))

    def _gateway(self) -> Gateway:
        return self.chance.choice([each for each in self.fleet.gateways if not each.process.is_gone])

    async def _store_away(self) -> None:
        store = self.fleet.house.store
        store.faults.away = True
        store.cut_all()

        def back() -> None:
            store.faults.away = False

        await self._for(self.chance.uniform(0.05, 5.0), back)

    async def _store_slow(self) -> None:
        faults = self.fleet.house.store.faults
        before = faults.slow_chance
        faults.slow_chance = 0.05

        def quick() -> None:
            faults.slow_chance = before

        await self._for(self.chance.uniform(0.5, 3.0), quick)

    async def _store_cut(self) -> None:
        faults = self.fleet.house.store.faults
        before, after = faults.cut_before_chance, faults.cut_after_chance
        faults.cut_before_chance = faults.cut_after_chance = 0.02

        def whole() -> None:
            faults.cut_before_chance, faults.cut_after_chance = before, after

        await self._for(self.chance.uniform(0.5, 3.0), whole)

    async def _store_unreachable(self) -> None:
        worker = self._worker()
        if worker is None:
            return
        store, process = self.fleet.house.store, worker.process
        store.cut_off(process)
        await self._for(self.chance.uniform(0.2, 9.0), lambda: store.let_through(process))

    async def _cut(self, other: Process) -> None:
        worker = self._worker()
        if worker is None:
            return
        network, process = self.fleet.house.network, worker.process
        network.cut(process, other)
        await self._for(self.chance.uniform(0.2, 8.0), lambda: network.mend(process, other))

    async def _cut_worker_from_gateway(self) -> None:
        await self._cut(self._gateway().process)

    async def _cut_worker_from_clock(self) -> None:
        await self._cut(self._clock().process)

    async def _break_streams(self) -> None:
        worker = self._worker()
        if worker is not None:
            self.fleet.house.network.break_streams(worker.process, self._gateway().process)

    async def _break_players(self) -> None:
        self.fleet.break_connections(self.chance.uniform(0.1, 0.9))

    async def _kill_helpers(self) -> None:
        network = self.fleet.house.network
        before = network.faults.lost_chance
        network.faults.lost_chance = 0.5

        def back() -> None:
            network.faults.lost_chance = before

        await self._for(self.chance.uniform(0.2, 1.0), back)


_WORK: Final[dict[str, Callable[[Faults], Awaitable[None]]]] = {
    kind: getattr(Faults, "_" + kind.replace(" ", "_")) for kind in KINDS
}


def void(_: object) -> None:
    """Take a result and do nothing with it."""
