"""A record as a file: what ``ExportRecord`` gives and ``eastwind verify`` reads.

The form is the protobuf JSON of ``eastwind.history.v1.HandRecord`` with the fields' proto names, one object. It is
stable: a later release reads the files of an earlier one.
"""

from __future__ import annotations

import json
from typing import Final

from google.protobuf import json_format

from eastwind.history.v1 import record_pb2
from libs.contracts.records import FORMAT
from libs.contracts.tiles import InvalidMessage

LARGEST_FILE: Final = 4 * 1024 * 1024


def record_to_file(message: record_pb2.HandRecord) -> str:
    """Return the content of a record's file, ending with a newline."""
    return (
        json_format.MessageToJson(
            message, preserving_proto_field_name=True, always_print_fields_with_no_presence=False, indent=2
        )
        + "\n"
    )


def record_from_file(content: str | bytes) -> record_pb2.HandRecord:
    """Return the record that a file holds.

    Raises ``InvalidMessage`` for a file that is cut off or no record at all, for one of a newer format, and for a field
    or a kind of event that this version does not know (field case C097).
    """
    if len(content) > LARGEST_FILE:
        raise InvalidMessage("file", "too large for a record")
    try:
        plain = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidMessage("file", f"no whole JSON document: {error}") from error
    if not isinstance(plain, dict):
        raise InvalidMessage("file", "no record: a record is a JSON object")
    if "format" not in plain:
        raise InvalidMessage("format", "missing: this is no record")
    if plain["format"] != FORMAT:
        raise InvalidMessage("format", f"this is format {plain['format']}; this version reads format {FORMAT}")
    try:
        return json_format.ParseDict(plain, record_pb2.HandRecord(), max_recursion_depth=20)
    except (json_format.ParseError, ValueError, TypeError) as error:
        raise InvalidMessage("record", str(error)) from error
