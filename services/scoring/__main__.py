"""`python -m services.scoring` runs the scoring service until SIGTERM."""

from libs.chassis.drain import run_service
from services.scoring.app import ScoringService
from services.scoring.settings import ScoringSettings

if __name__ == "__main__":
    run_service("scoring", ScoringService, ScoringSettings)
