"""`python -m services.ratings` runs the ratings service until SIGTERM."""

from libs.chassis.drain import run_service
from services.ratings.app import RatingsService
from services.ratings.settings import RatingsSettings

if __name__ == "__main__":
    run_service("ratings", RatingsService, RatingsSettings)
