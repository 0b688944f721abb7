"""Messages as other releases, other languages or broken programs might send them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from libs.mahjong.bots import Level, choose
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.views import SeatView
from libs.mahjong.simulation import Policy, SimulatedTable, derived_seed, eager_policy

RULESETS = ("classical", "hkos-3-v1")
_STRANGE = {
    FieldDescriptor.CPPTYPE_INT32: (0, 1, -1, 99, 2**31 - 1, -(2**31)),
    FieldDescriptor.CPPTYPE_UINT32: (0, 1, 3, 4, 5, 99, 135, 136, 143, 144, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (0, 1, -1, 2**63 - 1, -(2**63)),
    FieldDescriptor.CPPTYPE_UINT64: (0, 1, 99, 2**64 - 1),
    FieldDescriptor.CPPTYPE_BOOL: (False, True),
    FieldDescriptor.CPPTYPE_ENUM: (0, 1, 2, 7, 99, 2**31 - 1, -1),
}


def computer(level: int, seed: bytes) -> Policy:
    def pick(view: SeatView) -> Action:
        value = derived_seed(seed, view.hand, view.moment, view.viewer)
        return choose(view, level, seed=value[0])

    return pick


@cache
def played(ruleset_id: str) -> tuple[SimulatedTable, ...]:
    """Tables at which two hands were played: by computers, and by players who take whatever they can."""
    tables = []
    for number in range(8):
        seed = derived_seed(b"contracts", ruleset_id, number)
        policies = [
            computer(Level.MEDIUM, seed) if number % 4 == 0 else eager_policy(derived_seed(seed, seat))
            for seat in range(4)
        ]
        table = SimulatedTable.open(ruleset_id, policies, seed, table_id=f"table-{number}", rated=True)
        for _ in range(2):
            table.play_hand()
        tables.append(table)
    return tuple(tables)


def spoil(message: Message, rng: Random) -> str:
    """Change one thing somewhere in a message; returns what."""
    holder, field = rng.choice(list(_fields(message)))
    name = f"{field.full_name}"
    if field.is_repeated:
        values = getattr(holder, field.name)
        if rng.random() < 0.3 and len(values):
            del values[rng.randrange(len(values))]
            return f"{name} shortened"
        if field.message_type is not None:
            values.add()
            return f"{name} lengthened"
        strange = rng.choice(_values(field))
        if len(values) and rng.random() < 0.7:
            values[rng.randrange(len(values))] = strange
        else:
            values.append(strange)
        return f"{name} has {strange!r}"
    if field.message_type is not None or rng.random() < 0.2:
        holder.ClearField(field.name)
        return f"{name} cleared"
    strange = rng.choice(_values(field))
    setattr(holder, field.name, strange)
    return f"{name} = {strange!r}"


def _values(field: FieldDescriptor) -> tuple[Any, ...]:
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return (b"", b"\xff" * 7, bytes(32)) if field.type == FieldDescriptor.TYPE_BYTES else ("", "ä", "x" * 300)
    return _STRANGE[field.cpp_type]


def _fields(message: Message) -> Iterator[tuple[Message, Any]]:
    """Every field that is set in a message or below it, and the unset scalar ones of the messages there."""
    for field in message.DESCRIPTOR.fields:
        if field.message_type is None:
            yield message, field
    for field, value in message.ListFields():
        if field.message_type is not None:
            yield message, field
            for each in value if field.is_repeated else (value,):
                yield from _fields(each)
