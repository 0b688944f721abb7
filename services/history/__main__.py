"""`python -m services.history` runs the history service until SIGTERM."""

from libs.chassis.drain import run_service
from services.history.app import HistoryService
from services.history.settings import HistorySettings

if __name__ == "__main__":
    run_service("history", HistoryService, HistorySettings)
