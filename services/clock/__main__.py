"""Runs the clock service: ``python -m services.clock``."""

from __future__ import annotations

from libs.chassis.drain import run_service
from libs.chassis.logs import configure
from libs.chassis.settings import load
from services.clock.app import ClockService
from services.clock.settings import ClockSettings


def main() -> None:
    """Read the settings and run until told to stop."""
    settings = load(ClockSettings)
    configure(service="clock", level=settings.log_level, form=settings.log_format)
    run_service(lambda: ClockService(settings), grace_s=settings.drain_grace_s)


if __name__ == "__main__":
    main()
