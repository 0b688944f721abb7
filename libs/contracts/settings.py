"""Table settings and players between protobuf and the game's own types."""

from __future__ import annotations

from typing import Final

from eastwind.type.v1 import settings_pb2
from libs.contracts.tiles import InvalidMessage
from libs.mahjong.clocks import BLITZ, BULLET, RELAXED, STANDARD, UNTIMED, TimeControl
from libs.mahjong.engine.table_events import Occupant, OccupantKind, TableSettings

_CONTROLS: Final[dict[settings_pb2.Speed.ValueType, TimeControl]] = {
    settings_pb2.SPEED_BULLET: BULLET,
    settings_pb2.SPEED_BLITZ: BLITZ,
    settings_pb2.SPEED_STANDARD: STANDARD,
    settings_pb2.SPEED_RELAXED: RELAXED,
    settings_pb2.SPEED_UNTIMED: UNTIMED,
}
_SPEEDS: Final = {control: speed for speed, control in _CONTROLS.items()}
MAX_TABLE_NAME: Final = 40


def settings_to_proto(settings: TableSettings) -> settings_pb2.TableSettings:
    """Return the message of a table's settings; a clock that is no preset has no speed."""
    return settings_pb2.TableSettings(
        ruleset=settings.ruleset_id,
        speed=_SPEEDS.get(settings.time_control, settings_pb2.SPEED_UNSPECIFIED),
        rated=settings.rated,
        uniform_pacing=settings.uniform_pacing,
        private=settings.private,
        name=settings.name,
    )


def settings_from_proto(message: settings_pb2.TableSettings, field: str = "settings") -> TableSettings:
    """Return the settings. Raises ``InvalidMessage`` for no speed, too long a name, or an untimed rated table."""
    control = _CONTROLS.get(message.speed)
    if control is None:
        raise InvalidMessage(f"{field}.speed", f"{message.speed} is no speed")
    if len(message.name) > MAX_TABLE_NAME:
        raise InvalidMessage(f"{field}.name", f"longer than {MAX_TABLE_NAME} characters")
    try:
        return TableSettings(
            message.ruleset, control, message.rated, message.uniform_pacing, message.private, message.name
        )
    except ValueError as error:
        raise InvalidMessage(field, str(error)) from error


def player_to_proto(occupant: Occupant | None) -> settings_pb2.Player:
    """Return the message of a seat's holder; without an account for a free seat."""
    if occupant is None:
        return settings_pb2.Player()
    return settings_pb2.Player(
        account_id=occupant.account_id,
        name=occupant.name,
        bot_level=settings_pb2.BotLevel.ValueType(occupant.level),
        guest=occupant.guest,
    )


def player_from_proto(message: settings_pb2.Player, field: str = "player") -> Occupant | None:
    """Return the seat's holder; ``None`` for a message without an account. Raises ``InvalidMessage``."""
    if not message.account_id:
        return None
    if len(message.account_id) > 64:
        raise InvalidMessage(f"{field}.account_id", "longer than 64 characters")
    if message.bot_level not in settings_pb2.BotLevel.values():
        raise InvalidMessage(f"{field}.bot_level", f"{message.bot_level} is no level")
    kind = OccupantKind.BOT if message.bot_level else OccupantKind.HUMAN
    return Occupant(message.account_id, message.name, kind, message.bot_level, message.guest)
