"""How often somebody may try to log in. Kept in this process only: each replica allows as much."""

from __future__ import annotations

from collections import OrderedDict

from libs.chassis.client_address import network_of
from libs.chassis.clocks import Clock
from libs.chassis.errors import ResourceExhausted
from services.accounts.settings import AccountsSettings


class Buckets:
    """A leaky bucket per key that holds `size` tries and loses one every `refill_ms`.

    At most `most` keys are kept: the key that was used longest ago is forgotten first.
    """

    def __init__(self, size: int, refill_ms: int, most: int) -> None:
        self._size = size
        self._refill_ms = refill_ms
        self._most = most
        self._full_until: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full_until)

    def wait_ms(self, key: str, now_ms: int) -> int:
        """How long until there is room for one more try; 0 when there is room."""
        empty_at = self._full_until.get(key, now_ms)
        return max(0, empty_at - now_ms - (self._size - 1) * self._refill_ms)

    def add(self, key: str, now_ms: int) -> None:
        """Count one try."""
        empty_at = max(self._full_until.get(key, now_ms), now_ms)
        self._full_until[key] = empty_at + self._refill_ms
        self._full_until.move_to_end(key)
        while len(self._full_until) > self._most:
            self._full_until.popitem(last=False)

    def take_back(self, key: str) -> None:
        """Count one try less."""
        if key in self._full_until:
            self._full_until[key] -= self._refill_ms

    def forget(self, key: str) -> None:
        """Begin anew for this key."""
        self._full_until.pop(key, None)


class LogInAttempts:
    """Bounds the failed log-ins of a name, and of a client address where it is known."""

    def __init__(self, settings: AccountsSettings, clock: Clock) -> None:
        self._clock = clock
        self._names = Buckets(
            settings.log_ins_per_name, round(settings.log_in_name_refill_s * 1000), settings.log_in_memory
        )
        self._addresses = Buckets(
            settings.log_ins_per_address, round(settings.log_in_address_refill_s * 1000), settings.log_in_memory
        )

    def begin(self, name_key: str, client_address: str) -> None:
        """Count a try as failed before it is known, so that tries at the same time count, too.

        Raises `ResourceExhausted` with `retry_after_ms` in its metadata, and counts nothing then.
        """
        now = self._clock.now_ms()
        address = network_of(client_address)
        wait = self._names.wait_ms(name_key, now)
        if address:
            wait = max(wait, self._addresses.wait_ms(address, now))
        if wait:
            raise ResourceExhausted("too many log-ins failed, wait", metadata={"retry_after_ms": str(wait)})
        self._names.add(name_key, now)
        if address:
            self._addresses.add(address, now)

    def succeeded(self, name_key: str, client_address: str) -> None:
        """The try was right: the name begins anew, the address gets the try back."""
        self._names.forget(name_key)
        address = network_of(client_address)
        if address:
            self._addresses.take_back(address)

    def undecided(self, name_key: str, client_address: str) -> None:
        """The try came to no answer: it does not count."""
        self._names.take_back(name_key)
        address = network_of(client_address)
        if address:
            self._addresses.take_back(address)
