"""The computer players that take empty seats."""

from __future__ import annotations

from typing import Final

from eastwind.type.v1 import settings_pb2

_NAMES: Final = ("Aster", "Basil", "Clover", "Dahlia")


def computer_player(table_id: str, seat: int, level: int) -> settings_pb2.Player:
    """Return the computer player of a seat. Its id is no account's: computers never own a rating."""
    return settings_pb2.Player(
        account_id=f"bot:{table_id}:{seat}",
        name=_NAMES[seat],
        bot_level=settings_pb2.BotLevel.ValueType(level),
    )
