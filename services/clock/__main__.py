"""`python -m services.clock` runs the clock service until SIGTERM."""

from libs.chassis.drain import run_service
from services.clock.app import ClockService
from services.clock.settings import ClockSettings

if __name__ == "__main__":
    run_service("clock", ClockService, ClockSettings)
