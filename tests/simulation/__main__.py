"""``python -m tests.simulation``: simulate seeds; a failing one prints the command that repeats it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deploy.local.valkey import ValkeyServer
from tests.backing import Keeper
from tests.simulation.faults import PROFILES
from tests.simulation.running import chosen_profile, told
from tests.simulation.simulation import HANDS, TABLES, Plan, Simulation


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 when every seed kept every law, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, one after another (default 1)")
    parser.add_argument("--hands", type=int, default=HANDS, help="hands of each seed (default %(default)s)")
    parser.add_argument("--tables", type=int, default=TABLES, help="tables at once (default %(default)s)")
    parser.add_argument(
        "--profile", choices=sorted(PROFILES), help="what goes wrong (default: each seed has one, all take turns)"
    )
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write down all that happened, line by line")
    options = parser.parse_args(arguments)
    failed = hands = 0
    with _store() as url:
        for seed in range(options.seed, options.seed + options.seeds):
            profile = options.profile or chosen_profile(seed)
            plan = Plan(seed, options.hands, options.tables, profile)
            report = Simulation(plan, url, keep_trace=options.trace is not None).run()
            print(told(report), flush=True)
            hands += report.hands
            failed += bool(report.broken)
            if options.trace is not None:
                options.trace.write_text("\n".join([*report.lines, ""]))
    print(f"{options.seeds} seeds, {hands} hands, {failed} failed")
    return 1 if failed else 0


@contextmanager
def _store() -> Iterator[str]:
    """A real store of this run's own."""
    keeper = Keeper()
    with tempfile.TemporaryDirectory(prefix="eastwind-simulation-") as folder:
        server = ValkeyServer(Path(folder))
        keeper.run(server.start())
        try:
            yield server.url
        finally:
            keeper.run(server.stop())
            keeper.close()


if __name__ == "__main__":
    sys.exit(main())
