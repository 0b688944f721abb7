"""Whether a consumer misses messages of a key, as the numbers of those that came tell (field case C114)."""

from __future__ import annotations

from collections import OrderedDict

from libs.chassis.events.record import EventRecord

MOST_KEYS = 20_000
"""Of so many keys the last number is kept; one that was not heard of for longest is forgotten first."""


class EventOrder:
    """The highest number that came of each key in each topic.

    Numbers count up by one (`EventRecord.number`). One that is not above the highest is a repeat or a latecomer: never
    missing, and the handler's own check keeps it from taking back what is newer. Of a key's first message nothing
    follows, since earlier ones may have gone to another consumer.
    """

    def __init__(self, most_keys: int = MOST_KEYS) -> None:
        self._most_keys = most_keys
        self._highest: OrderedDict[tuple[str, str], int] = OrderedDict()

    def missing_before(self, event: EventRecord) -> int:
        """Take note of a message; returns how many numbers between it and the highest before it did not come."""
        if not event.number:
            return 0
        key = (event.topic, event.key)
        highest = self._highest.pop(key, None)
        if highest is None:
            self._highest[key] = event.number
            if len(self._highest) > self._most_keys:
                self._highest.popitem(last=False)
            return 0
        self._highest[key] = max(highest, event.number)
        return max(0, event.number - highest - 1)
