"""Time that the platform took from whoever is waited for, until it is given back (promise P4).

Time counts from the moment the prompt left: how long an append took is owed, and so is the time for which somebody who
is waited for could not be reached though his own connection is not what failed: the table has just come to this worker,
the stream of a gateway ended, or a gateway looked for the table.
"""

from __future__ import annotations

import asyncio
from typing import Final

from libs.mahjong.engine.table_state import TablePhase, TableState

LEAST_OWED_MS: Final = 50
"""An append that took less is an ordinary one; of its time nothing is owed."""
ASTRAY_S: Final = 15.0
"""Whoever has not come back by then is away, and time runs again. A gateway leaves a silent worker within 6 s, and may
then have to wait for the store before it finds the next one."""


class Credit:
    """What one table owes to those who are waited for. Moments are loop time."""

    __slots__ = (
        "_asked_at",
        "_astray",
        "_counted",
        "_in_time_at",
        "_owed_s",
        "_question",
        "_stands_since",
        "_stands_until",
    )

    def __init__(self) -> None:
        self._owed_s = 0.0
        self._question: object = None
        self._asked_at = self._in_time_at = _now()
        self._counted: list[tuple[float, float]] = []
        self._astray: dict[str, float] = {}
        self._stands_since: float | None = None
        self._stands_until = 0.0

    @property
    def owed_ms(self) -> int:
        """What is owed up to this moment."""
        if self._stands_since is not None:
            self._owe(self._stands_since, min(_now(), self._stands_until))
        return int(self._owed_s * 1000)

    def paid(self, milliseconds: int) -> None:
        """So much was given back."""
        self._owed_s -= milliseconds / 1000

    def late_since(self, moment: float, state: TableState) -> int:
        """The store was silent since that moment and answers now; returns how much of it, in ms, is newly owed to those
        for whom the time of ``state`` runs."""
        before, now = self.owed_ms, _now()
        since = max(moment, self._in_time_at)
        self._in_time_at = now
        if _runs(state) and now - since >= LEAST_OWED_MS / 1000:
            self._owe(since, now)
        late_ms = self.owed_ms - before
        self.consider(state)
        return late_ms

    def strayed(self, account_id: str, state: TableState) -> None:
        """That player cannot be reached, and it is the platform that lost him."""
        self._astray[account_id] = _now() + ASTRAY_S
        self.consider(state)

    def came(self, account_id: str, sought_since: float, state: TableState) -> None:
        """That player can be reached; his gateway had looked for the table since that moment."""
        if account_id in _awaited_accounts(state):
            self._owe(max(sought_since, _now() - ASTRAY_S), _now())
        if self._astray.pop(account_id, None) is not None:
            self.consider(state)

    def consider(self, state: TableState) -> None:
        """See for whom time runs now; it stands still while one of them is astray."""
        # What stood still so far is owed, whatever comes now.
        _ = self.owed_ms
        now = _now()
        question = (state.hand_number, state.phase, None if state.clock is None else state.clock.decision)
        if question != self._question:
            self._question, self._asked_at = question, now
            self._counted.clear()
        awaited = _awaited_accounts(state) if self._astray else ()
        until = max((self._astray.get(account, 0.0) for account in awaited), default=0.0)
        self._stands_since = now if until > now else None
        self._stands_until = until

    def _owe(self, since: float, until: float) -> None:
        """Owe the time between two moments as far as the question stood then, and no moment twice."""
        since = max(since, self._asked_at)
        if since >= until:
            return
        apart: list[tuple[float, float]] = []
        together = [(since, until)]
        for span in self._counted:
            (together if span[0] <= until and since <= span[1] else apart).append(span)
        already = sum(max(0.0, min(until, ends) - max(since, begins)) for begins, ends in together[1:])
        self._owed_s += until - since - already
        self._counted = [*apart, (min(span[0] for span in together), max(span[1] for span in together))]


def began_ms(state: TableState) -> int:
    """Return when what runs at the table began, unix ms, moved on by what was given back since. Somebody's time has to
    run."""
    if state.clock is not None:
        return state.clock.wait.opened_ms + state.clock.wait.granted_ms
    assert state.ready_deadline_ms is not None
    return state.ready_deadline_ms - 1000 * state.rules.ready_step.seconds


def _now() -> float:
    return asyncio.get_running_loop().time()


def _runs(state: TableState) -> bool:
    return state.clock is not None or state.ready_deadline_ms is not None


def _awaited_accounts(state: TableState) -> list[str]:
    """Return the people for whom time runs."""
    if state.clock is not None:
        seats = state.clock.seats
    elif state.ready_deadline_ms is not None and state.phase is TablePhase.READY:
        seats = tuple(seat for seat, ready in enumerate(state.ready) if not ready)
    else:
        return []
    occupants = (state.occupants[seat] for seat in seats)
    return [each.account_id for each in occupants if each is not None and each.is_human]
