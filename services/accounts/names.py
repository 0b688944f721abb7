"""Which names players may have, and which two names are too alike."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from libs.chassis.errors import InvalidRequest

SHORTEST = 2
LONGEST = 20

# One character may become up to 18 under NFKC; what is longer than this can only be meant badly.
_LONGEST_RAW = 200
_MOST_MARKS_IN_A_ROW = 2
# Control, format (zero-width, bidirectional), surrogate, private use, unassigned, line and paragraph separators.
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Invisible characters that Unicode counts as letters, marks or symbols.
_INVISIBLE = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
# Letters and digits that look like a Latin letter in upper or lower case, after case folding.
_LOOK_ALIKES = str.maketrans(
    "авсенԁһіјкӏмоԛрѕтухѵԝ" + "αβεζηικμνορτυχ" + "ıɑɡ" + "l1|0",
    "abcehdhijkimoqpstyxvw" + "abezhikmnoptyx" + "iag" + "iiio",
)


class NameInvalid(InvalidRequest):
    """The name is too long, too short, or has characters that names may not have."""

    reason = "NAME_INVALID"


@dataclass(frozen=True, slots=True)
class Name:
    """`shown` is what others see, 2 to 20 characters in NFKC; two names with one `key` cannot both be had."""

    shown: str
    key: str


def read_name(text: str) -> Name:
    """The name that `text` asks for, without spaces around it and with single spaces inside.

    Markup is no concern of a name: it is text, and shown as text. Raises `NameInvalid`.
    """
    if len(text) > _LONGEST_RAW:
        raise NameInvalid(f"a name has {SHORTEST} to {LONGEST} characters")
    shown = unicodedata.normalize("NFKC", text)
    for character in shown:
        if not _allowed(character):
            raise NameInvalid(f"names may not have the character U+{ord(character):04X}")
    shown = " ".join(part for part in shown.split(" ") if part)
    if not SHORTEST <= len(shown) <= LONGEST:
        raise NameInvalid(f"a name has {SHORTEST} to {LONGEST} characters")
    _check_marks(shown)
    return Name(shown, name_key(shown))


def name_key(name: str) -> str:
    """What is compared instead of the name: without case, forms of a character, and letters that look alike."""
    folded = name
    for _ in range(2):
        folded = unicodedata.normalize("NFKC", folded).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_LOOK_ALIKES)


def _allowed(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Zs":
        return character == " "
    return category not in _REFUSED_CATEGORIES and ord(character) not in _INVISIBLE


def _check_marks(shown: str) -> None:
    """Marks stand on a letter, and do not pile up over other lines of the page."""
    in_a_row = _MOST_MARKS_IN_A_ROW
    for character in shown:
        if unicodedata.category(character).startswith("M"):
            in_a_row += 1
            if in_a_row > _MOST_MARKS_IN_A_ROW:
                raise NameInvalid("a name may not have so many marks in a row")
        else:
            in_a_row = _MOST_MARKS_IN_A_ROW if character == " " else 0
