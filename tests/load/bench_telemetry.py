"""What measuring costs on the path of an action, nothing of it traced: ``python -m tests.load.bench_telemetry``.

The entries of six simulated hands go through what a worker and a gateway do for each of them. The best of many runs, in
processor time, beside the time that one bare counter takes.
"""

from __future__ import annotations

import argparse
import time
import timeit
from collections.abc import Callable

from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import reason_pb2
from libs.chassis.telemetry import Telemetry, trace_parent_of
from libs.chassis.telemetry_contract import metrics
from libs.mahjong import variants  # noqa: F401  registers the rulesets
from libs.mahjong.simulation import SimulatedTable, seeded_policy
from services.gateway.measuring import Measures as GatewayMeasures
from services.table.measuring import Measures as TableMeasures

RULESET = "hkos-3-v1"
HANDS = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    table = SimulatedTable.open(RULESET, [seeded_policy(b"bench")] * 4, b"bench")
    for _ in range(HANDS):
        table.play_hand()
    entries = table.entries
    worker, gateway = TableMeasures(Telemetry("table")), GatewayMeasures(Telemetry("gateway"))
    bare = Telemetry("table").metrics.counter(metrics.BOT_MISSES)
    command = table_pb2.TableCommand(command_id="bench", choose=table_pb2.Choose(decision=3))

    def at_the_worker() -> None:
        window_ms = 0
        for entry in entries:
            span = worker.begin("table", "choose", "")
            came_s = time.perf_counter()
            window_ms = worker.happened(entry, RULESET, window_ms)
            worker.answered(None, came_s, span)

    def at_the_gateway() -> None:
        for _ in entries:
            sent = gateway.sent("table", command)
            trace_parent_of(sent.span)
            gateway.answered(sent, reason_pb2.REASON_UNSPECIFIED)

    def counter() -> None:
        for _ in entries:
            bare.inc()

    cases: dict[str, Callable[[], None]] = {"worker": at_the_worker, "gateway": at_the_gateway, "one counter": counter}
    for name, case in cases.items():
        best = min(timeit.repeat(case, repeat=runs, number=3, timer=time.process_time)) / 3 / len(entries)
        print(f"{name:<12} {best * 1e6:5.2f} us for each of {len(entries)} entries (best of {runs} runs)")


if __name__ == "__main__":
    main()
