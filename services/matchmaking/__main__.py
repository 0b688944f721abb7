"""`python -m services.matchmaking` runs matchmaking until SIGTERM."""

from libs.chassis.drain import run_service
from services.matchmaking.app import MatchmakingService
from services.matchmaking.settings import MatchmakingSettings

if __name__ == "__main__":
    run_service("matchmaking", MatchmakingService, MatchmakingSettings)
