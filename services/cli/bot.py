"""`eastwind bot`: a computer player that plays through the public edge, as anybody's own program could."""

from __future__ import annotations

import asyncio
import secrets
import sys
from typing import Final
from uuid import uuid4

import aiohttp
import click

from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.type.v1 import settings_pb2
from services.cli.edge_calls import EdgeCalls, EdgeRefusedError, EdgeUnreachableError
from services.cli.edge_client import EdgeClient, EdgeClosedError
from services.cli.hand_words import describe_hand
from services.cli.playing import HandResult, SeatPlayer, computer

DEFAULT_URL: Final = "http://127.0.0.1:8808"
LEVELS: Final = {"easy": 1, "medium": 2, "hard": 3}
SPEEDS: Final = {
    "bullet": settings_pb2.SPEED_BULLET,
    "blitz": settings_pb2.SPEED_BLITZ,
    "standard": settings_pb2.SPEED_STANDARD,
    "relaxed": settings_pb2.SPEED_RELAXED,
    "untimed": settings_pb2.SPEED_UNTIMED,
}
_MATCHMAKING: Final = "eastwind.matchmaking.v1.MatchmakingService"
ADVICE: Final = {
    "RULESET_UNKNOWN": "the server does not know this ruleset; see --ruleset.",
    "WRONG_CODE": "the invitation code is not right, or the table is private: give its code with --code.",
    "TABLE_UNKNOWN": "there is no such table, or it is closed.",
    "TABLE_FULL": "every seat of this table is taken.",
    "NAME_INVALID": "the name is too long, too short or has characters that names may not have.",
    "SUPERSEDED_CONNECTION": "the same account has connected from elsewhere.",
}


@click.command()
@click.option("--url", default=DEFAULT_URL, show_default=True, help="Address of the server, as a browser opens it.")
@click.option("--origin", default="", help="Origin of its socket, where the server allows others than its own address.")
@click.option("--name", default="", help="Name of the player; without one the server chooses.")
@click.option(
    "--level", default="medium", show_default=True, type=click.Choice(list(LEVELS)), help="How well it plays."
)
@click.option("--ruleset", default="hkos-3-v1", show_default=True, help="Ruleset of a new table or of the queue.")
@click.option("--speed", default="standard", show_default=True, type=click.Choice(list(SPEEDS)), help="For --table.")
@click.option("--table", "own_table", is_flag=True, help="Make a table; computers take the other seats [default].")
@click.option("--join", metavar="TABLE", default="", help="Take a seat at the table of that id.")
@click.option("--code", default="", help="Take a seat at the private table with that invitation code.")
@click.option("--quick-play", is_flag=True, help="Wait in the queue for other players.")
@click.option("--rated", is_flag=True, help="With --quick-play and --table: play for ratings, with people alone.")
@click.option("--hands", default=1, show_default=True, type=click.IntRange(1), help="Hands to play before it leaves.")
def bot(
    url: str,
    origin: str,
    name: str,
    level: str,
    ruleset: str,
    speed: str,
    own_table: bool,
    join: str,
    code: str,
    quick_play: bool,
    rated: bool,
    hands: int,
) -> None:
    """Let a computer player play through the public edge.

    It signs in as a guest, finds a seat, plays so many hands and tells how each ended. It sees what a player sees and
    nothing else; it seals and reveals its own part of every wall.

    \b
    Four of them at one table, for ratings:
      eastwind bot --quick-play --rated --hands 3
    in four windows. Against computers of the server:
      eastwind bot --table --level hard
    """
    ways = sum((own_table, bool(join), bool(code), quick_play))
    if ways > 1 and not (ways == 2 and join and code):
        raise click.UsageError("choose one of --table, --join, --code and --quick-play.")
    if rated and (join or code):
        raise click.UsageError("whether a table is rated was decided when it was made; --rated goes with a new one.")
    seeking = _Seeking(ruleset, speed, join, code, quick_play, rated)
    try:
        asyncio.run(_play(url, origin, name, LEVELS[level], seeking, hands))
    except EdgeUnreachableError as error:
        sys.exit(f"{error}\nStart one with `eastwind run`, or name another with --url.")
    except EdgeRefusedError as error:
        sys.exit(f"The server refused: {ADVICE.get(error.reason, str(error))}")
    except EdgeClosedError as error:
        sys.exit(f"The game ended: {ADVICE.get(error.reason, str(error))}")
    except KeyboardInterrupt:
        sys.exit(130)


class _Seeking:
    """How the player comes to a seat."""

    def __init__(self, ruleset: str, speed: str, join: str, code: str, quick_play: bool, rated: bool) -> None:
        self._ruleset = ruleset
        self._speed = speed
        self._join = join
        self._code = code
        self._quick_play = quick_play
        self._rated = rated

    async def seat(self, client: EdgeClient) -> str:
        """Take a seat; returns the table."""
        if self._quick_play:
            click.echo("Waiting for other players …")
            return await client.enter_queue(self._ruleset, rated=self._rated)
        token = client.session.access_token
        if self._join or self._code:
            wanted = matchmaking_pb2.JoinTableRequest(table_id=self._join, code=self._code)
            joined = await client.calls.call(
                f"{_MATCHMAKING}/JoinTable", wanted, matchmaking_pb2.JoinTableResponse, token
            )
            return joined.table_id
        request = matchmaking_pb2.CreateTableRequest(
            request_id=uuid4().hex,
            settings=settings_pb2.TableSettings(
                ruleset=self._ruleset, speed=SPEEDS[self._speed], rated=self._rated, uniform_pacing=self._rated
            ),
            fill_with=settings_pb2.BOT_LEVEL_UNSPECIFIED if self._rated else settings_pb2.BOT_LEVEL_MEDIUM,
        )
        made = await client.calls.call(
            f"{_MATCHMAKING}/CreateTable", request, matchmaking_pb2.CreateTableResponse, token
        )
        if self._rated:
            click.echo(f"Table {made.table_id} waits for three more: eastwind bot --join {made.table_id}")
        return made.table_id


async def _play(url: str, origin: str, name: str, level: int, seeking: _Seeking, hands: int) -> None:
    async with aiohttp.ClientSession() as http:
        calls = EdgeCalls(url, http)
        client = EdgeClient(calls, await calls.register_guest(name), http, origin=origin)
        try:
            await client.start()
            click.echo(f"{client.session.name} is at {calls.base_url}.")
            table_id = await seeking.seat(client)
            click.echo(f"Plays at table {table_id}.")
            player = SeatPlayer(client, table_id, computer(level, secrets.randbits(62)))
            played = await player.play(hands, _tell)
            if len(played) < hands:
                click.echo("The table has closed.")
            else:
                await player.leave()
        finally:
            await client.close()


def _tell(result: HandResult) -> None:
    for line in describe_hand(result.view):
        click.echo(line)
