"""`python -m services.history` runs the history service until SIGTERM."""

from libs.chassis import logs
from libs.chassis.drain import run_service
from libs.chassis.settings import load
from services.history.app import HistoryService
from services.history.settings import HistorySettings

if __name__ == "__main__":
    settings = load(HistorySettings)
    logs.configure(service=HistoryService.name, level=settings.log_level, form=settings.log_format)
    run_service(lambda: HistoryService(settings), grace_s=settings.drain_grace_s)
