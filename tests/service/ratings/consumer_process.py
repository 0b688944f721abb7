"""`python -m tests.service.ratings.consumer_process DATABASE BOOTSTRAP`: rates units until it is killed."""

from __future__ import annotations

import asyncio
import sys

from services.ratings.app import RatingsService
from tests.service.ratings.running import settings_for


async def main(database_url: str, bootstrap: str) -> None:
    service = RatingsService(settings_for(database_url, bootstrap))
    await service.start()
    await service.failed


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
