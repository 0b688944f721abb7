"""Where chance comes from in a simulation: the seed, for the code under test as well."""

from __future__ import annotations

import gc
import random
import secrets
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random, SystemRandom
from unittest import mock

import uuid_utils


def stream(seed: int, purpose: str) -> Random:
    """A stream of chance of its own: what one part draws does not change what another one gets."""
    return Random(f"{seed}/{purpose}")


@contextmanager
def all_chance_from(seed: int, now_ms: Callable[[], int]) -> Iterator[None]:
    """Within the block every secret, id and random number of this process follows from the seed.

    Garbage is not collected meanwhile: a collection runs the clean-up of what it finds, at a moment that nothing
    decides.
    """
    secret, ids = stream(seed, "secrets"), stream(seed, "ids")

    def uuid7() -> uuid.UUID:
        number = now_ms() << 80 | 7 << 76 | ids.getrandbits(12) << 64 | 2 << 62 | ids.getrandbits(62)
        return uuid.UUID(int=number)

    state = random.getstate()
    collected = gc.isenabled()
    with ExitStack() as changed:
        for owner, name, draw in (
            (secrets, "token_bytes", lambda count=32: secret.randbytes(count)),
            (secrets, "token_hex", lambda count=32: secret.randbytes(count).hex()),
            (secrets, "randbits", secret.getrandbits),
            (SystemRandom, "getrandbits", lambda self, bits: secret.getrandbits(bits)),
            (SystemRandom, "random", lambda self: secret.random()),
            (uuid_utils, "uuid7", uuid7),
        ):
            changed.enter_context(mock.patch.object(owner, name, draw))
        gc.disable()
        random.seed(f"{seed}/anything")
        try:
            yield
        finally:
            random.setstate(state)
            if collected:
                gc.enable()
                gc.collect()
