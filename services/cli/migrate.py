"""`eastwind migrate`: what has to be there before services of a new version start."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import click

from libs.chassis.database_upkeep import migrate_when_there
from libs.chassis.errors import Unavailable
from libs.chassis.events import ensure_topics
from libs.chassis.events.topics import AS_THE_BROKER_LIKES
from libs.chassis.logs import configure
from libs.chassis.settings import ServiceSettings, load

DATABASES: Final = ("accounts", "history", "ratings")
"""The services that keep something in PostgreSQL."""
TOPICS: Final = "topics"
_RETRY_S: Final = 1.0


@click.command()
@click.argument("part", type=click.Choice([*DATABASES, TOPICS]))
@click.option("--wait", "wait_s", default=120.0, show_default=True, help="Seconds to wait for database or brokers.")
@click.option(
    "--replication", type=click.IntRange(1), help="Copies of each new partition.  [default: the broker's own]"
)
def migrate(part: str, wait_s: float, replication: int | None) -> None:
    """Bring the schema of a service's database up to date, or create the topics that are missing.

    Where they are is told by EASTWIND_DATABASE_URL or EASTWIND_KAFKA_BOOTSTRAP, as to the services. What is already
    done stays as it is, and several may run at once.
    """
    configure(service="migrate", level="info", form="auto")
    settings = load(ServiceSettings)
    work = (
        _create_topics(settings, wait_s, replication or AS_THE_BROKER_LIKES)
        if part == TOPICS
        else _migrate(settings, part, wait_s)
    )
    try:
        click.echo(asyncio.run(work))
    except Unavailable as error:
        sys.exit(f"{error.message}.")


async def _migrate(settings: ServiceSettings, service: str, wait_s: float) -> str:
    if not settings.database_url:
        raise Unavailable("EASTWIND_DATABASE_URL is not set")
    package = Path(str(import_module(f"services.{service}").__file__)).parent
    await migrate_when_there(
        settings.database_url, package / "migrations", version_table=f"{service}_version", wait_s=wait_s
    )
    return f"The database of {service} is up to date."


async def _create_topics(settings: ServiceSettings, wait_s: float, replication: int) -> str:
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + wait_s
    while True:
        try:
            created = await ensure_topics(settings.kafka_bootstrap, timeout_s=15.0, replication=replication)
            return f"Topics created: {', '.join(sorted(created)) or 'none, all are there'}."
        except Unavailable:
            if loop.time() >= give_up_at:
                raise
            await asyncio.sleep(_RETRY_S)
