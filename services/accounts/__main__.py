"""`python -m services.accounts` runs the accounts service until SIGTERM."""

from libs.chassis.drain import run_service
from services.accounts.app import AccountsService
from services.accounts.settings import AccountsSettings

if __name__ == "__main__":
    run_service("accounts", AccountsService, AccountsSettings)
