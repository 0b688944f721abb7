"""`eastwind run`: everything on this machine, with one command."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from libs.chassis.logs import configure

if TYPE_CHECKING:
    from deploy.local.fleet import Fleet
    from deploy.local.processes import ProcessFleet
    from deploy.local.stack import BackingStack

DRAIN_S = 5.0


@click.command()
@click.option(
    "--port", default=8808, show_default=True, type=click.IntRange(0, 65535), help="Port of the page; 0: any."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 lets others in.")
@click.option(
    "--data",
    default=Path(".eastwind"),
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that keeps accounts, tables, records and ratings.",
)
@click.option(
    "--backing",
    default="embedded",
    show_default=True,
    envvar="EASTWIND_BACKING",
    type=click.Choice(["embedded", "production"]),
    help="Servers from Python packages, or Apache Kafka (see `make kafka-setup`) and Debian's Redis and PostgreSQL.",
)
@click.option("--workers", type=click.IntRange(1, 8), help="Table workers to start.  [default: 1, or 2 processes]")
@click.option(
    "--processes",
    is_flag=True,
    help="Run every service as a process of its own: two table workers, and two gateways on this port and the next.",
)
@click.option(
    "--log-level", default="warning", show_default=True, type=click.Choice(["debug", "info", "warning", "error"])
)
def run(port: int, host: str, data: Path, backing: str, workers: int | None, processes: bool, log_level: str) -> None:
    """Start Eastwind on this machine and print the address to open.

    A real Valkey, a Kafka-protocol broker and a real PostgreSQL are started from the Python packages that carry them,
    unless --backing says otherwise; what they keep lies in the data folder and is there again after a restart. Ctrl-C
    ends everything.
    """
    configure(service="eastwind", level=log_level, form="auto")
    try:
        sys.exit(asyncio.run(_run(port, host, data, backing, workers, processes, log_level)))
    except KeyboardInterrupt:
        sys.exit(130)


async def _run(
    port: int, host: str, data: Path, backing: str, workers: int | None, processes: bool, log_level: str
) -> int:
    from deploy.local.backing import BACKINGS
    from deploy.local.errors import BackingServerError
    from deploy.local.processes import ProcessFleet, ServiceEndedError
    from deploy.local.stack import BackingStack
    from libs.chassis.errors import EastwindError
    from libs.chassis.settings import SettingsError

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    # With `everysec` a killed Valkey may lose what it acknowledged while the disk was busy.
    stack = BackingStack(data, backing=BACKINGS[backing], appendfsync="always")
    click.echo("Eastwind starts …", err=True)
    try:
        await stack.start()
    except BackingServerError as error:
        click.echo(f"Eastwind cannot start: {error}", err=True)
        return 1
    copies = {"table": workers} if workers else {}
    common = {"": {"log_level": log_level}}
    fleet: Fleet | ProcessFleet
    if processes:
        fleet = ProcessFleet(stack, settings=common, copies=copies, edge_host=host, edge_port=port)
    else:
        # Only here: the services take a while to import, and the processes do that for themselves.
        from deploy.local.fleet import Fleet

        fleet = Fleet(stack, settings={**common, "gateway": {"edge_host": host, "edge_port": port}}, copies=copies)
    try:
        await fleet.start()
    except (EastwindError, SettingsError, ServiceEndedError, OSError) as error:
        click.echo(f"Eastwind cannot start: {_explain(error, port)}", err=True)
        await stack.stop()
        return 1
    first, *others = (f"{url}/" for url in fleet.edge_urls)
    also = f" (or {', '.join(others)})" if others else ""
    click.echo(f"Eastwind runs. Open {first}{also} in a browser; Ctrl-C ends it.")
    try:
        return await _until_stopped(stop, stack, fleet)
    finally:
        await fleet.stop(DRAIN_S)
        await stack.stop()


async def _until_stopped(stop: asyncio.Event, stack: BackingStack, fleet: Fleet | ProcessFleet) -> int:
    """Wait for the signal, or for the first part that cannot go on."""
    asked = asyncio.ensure_future(stop.wait())
    server = asyncio.ensure_future(stack.wait_for_a_stop())
    failure: asyncio.Future[BaseException] = asyncio.ensure_future(fleet.wait_for_a_failure())
    waits: set[asyncio.Future[Any]] = {asked, server, failure}
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    try:
        if asked.done():
            return 0
        if server.done():
            ended = server.result()
            click.echo(f"A backing server has ended by itself; its log is {ended.log}.", err=True)
        else:
            click.echo(f"A service cannot go on: {failure.result()}", err=True)
        return 1
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


def _explain(error: Exception, port: int) -> str:
    if isinstance(error, OSError) and error.errno is not None and "address already in use" in str(error).lower():
        return f"port {port} is taken; choose another with --port."
    return str(error)
