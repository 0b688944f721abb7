"""Runs one table worker: ``python -m services.table``."""

from __future__ import annotations

from libs.chassis.drain import run_service
from libs.chassis.logs import configure
from libs.chassis.settings import load
from services.table.app import TableWorker
from services.table.settings import TableWorkerSettings


def main() -> None:
    """Read the settings and run until told to stop."""
    settings = load(TableWorkerSettings)
    configure(service="table", level=settings.log_level, form=settings.log_format)
    run_service(lambda: TableWorker(settings), grace_s=settings.drain_grace_s)


if __name__ == "__main__":
    main()
