"""`python -m services.accounts` runs the accounts service until SIGTERM."""

from libs.chassis import logs
from libs.chassis.drain import run_service
from libs.chassis.settings import load
from services.accounts.app import AccountsService
from services.accounts.settings import AccountsSettings

if __name__ == "__main__":
    settings = load(AccountsSettings)
    logs.configure(service=AccountsService.name, level=settings.log_level, form=settings.log_format)
    run_service(lambda: AccountsService(settings), grace_s=settings.drain_grace_s)
