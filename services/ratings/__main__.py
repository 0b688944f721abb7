"""`python -m services.ratings` runs the ratings service until SIGTERM."""

from libs.chassis import logs
from libs.chassis.drain import run_service
from libs.chassis.settings import load
from services.ratings.app import RatingsService
from services.ratings.settings import RatingsSettings

if __name__ == "__main__":
    settings = load(RatingsSettings)
    logs.configure(service=RatingsService.name, level=settings.log_level, form=settings.log_format)
    run_service(lambda: RatingsService(settings), grace_s=settings.drain_grace_s)
