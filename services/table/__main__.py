"""`python -m services.table` runs one table worker until SIGTERM."""

from libs.chassis.drain import run_service
from services.table.app import TableWorker
from services.table.settings import TableWorkerSettings

if __name__ == "__main__":
    run_service("table", TableWorker, TableWorkerSettings)
