"""`python -m services.gateway` runs one gateway until SIGTERM."""

from libs.chassis.drain import run_service
from services.gateway.app import GatewayService
from services.gateway.settings import GatewaySettings

if __name__ == "__main__":
    run_service("gateway", GatewayService, GatewaySettings)
