"""What every test may use; what belongs to one part of the tree stands in that part's own ``conftest.py``."""

import os

import pytest
import structlog
from hypothesis import HealthCheck, settings

# Fixtures reach the tests by their names here.
from tests.backing import (  # noqa: F401
    BACKING,
    _shared_broker,
    _shared_valkey,
    broker_server,
    fresh_database,
    kafka_bootstrap,
    keeper,
    postgres_server,
    postgres_url,
    strict_valkey_server,
    valkey_server,
    valkey_url,
)

# One profile for everybody: repeatable, and without a deadline, since the machine is shared by several workers.
settings.register_profile(
    "eastwind",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("EASTWIND_TEST_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("eastwind")

# The default shows the local variables of every frame of a traceback, which holds an event loop up for seconds.
structlog.configure(
    processors=[
        structlog.stdlib.add_log_level,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)


def pytest_report_header() -> str:
    """Say which servers the tests stand on."""
    return f"backing: {BACKING.name} ({', '.join(kind.title for kind in BACKING.kinds)})"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are about the other set of backing servers."""
    other = "production" if BACKING.name == "embedded" else "embedded"
    left_out = [item for item in items if item.get_closest_marker(other) is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker(other) is None]
