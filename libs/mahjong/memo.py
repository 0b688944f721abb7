"""A mapping that computes what it does not hold: the quickest way in Python to ask the same question again."""

from collections.abc import Callable, Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memo(dict[Key, Value]):
    """``memo[key]`` is ``compute(key)``, computed once and kept.

    It holds at most ``bound`` values: one more and it forgets all of them and begins anew. An exception of ``compute``
    goes through and nothing is kept.
    """

    __slots__ = ("_bound", "_compute")

    def __init__(self, compute: Callable[[Key], Value], bound: int) -> None:
        super().__init__()
        self._compute = compute
        self._bound = bound

    def __missing__(self, key: Key) -> Value:
        value = self._compute(key)
        if len(self) >= self._bound:
            self.clear()
        self[key] = value
        return value
