"""Runs matchmaking: ``python -m services.matchmaking``."""

from __future__ import annotations

from libs.chassis.drain import run_service
from libs.chassis.logs import configure
from libs.chassis.settings import load
from services.matchmaking.app import MatchmakingService
from services.matchmaking.settings import MatchmakingSettings


def main() -> None:
    """Read the settings and run until told to stop."""
    settings = load(MatchmakingSettings)
    configure(service="matchmaking", level=settings.log_level, form=settings.log_format)
    run_service(lambda: MatchmakingService(settings), grace_s=settings.drain_grace_s)


if __name__ == "__main__":
    main()
