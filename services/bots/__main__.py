"""`python -m services.bots` runs the bots service until SIGTERM."""

from libs.chassis import logs
from libs.chassis.drain import run_service
from libs.chassis.settings import load
from services.bots.app import BotsService
from services.bots.settings import BotsSettings

if __name__ == "__main__":
    settings = load(BotsSettings)
    logs.configure(service=BotsService.name, level=settings.log_level, form=settings.log_format)
    run_service(lambda: BotsService(settings), grace_s=settings.drain_grace_s)
