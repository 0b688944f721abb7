"""`python -m services.bots` runs the bots service until SIGTERM."""

from libs.chassis.drain import run_service
from services.bots.app import BotsService
from services.bots.settings import BotsSettings

if __name__ == "__main__":
    run_service("bots", BotsService, BotsSettings)
