"""Runs one gateway: ``python -m services.gateway``."""

from __future__ import annotations

from libs.chassis.drain import run_service
from libs.chassis.logs import configure
from libs.chassis.settings import load
from services.gateway.app import GatewayService
from services.gateway.settings import GatewaySettings


def main() -> None:
    """Read the settings and run until told to stop."""
    settings = load(GatewaySettings)
    configure(service="gateway", level=settings.log_level, form=settings.log_format)
    run_service(lambda: GatewayService(settings), grace_s=settings.drain_grace_s)


if __name__ == "__main__":
    main()
