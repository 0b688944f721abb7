"""`python -m services.scoring` runs the scoring service until SIGTERM."""

from libs.chassis import logs
from libs.chassis.drain import run_service
from libs.chassis.settings import load
from services.scoring.app import ScoringService
from services.scoring.settings import ScoringSettings

if __name__ == "__main__":
    settings = load(ScoringSettings)
    logs.configure(service=ScoringService.name, level=settings.log_level, form=settings.log_format)
    run_service(lambda: ScoringService(settings), grace_s=settings.drain_grace_s)
