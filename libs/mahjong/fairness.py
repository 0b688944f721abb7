"""The wall that nobody can steer: commitments, the transcript, the seed and the shuffle.

The procedure, so that anybody can repeat it with SHA-256 and HMAC alone:

1. Before the ready step of a hand the server publishes ``SHA-256(server seed)``; the seed is 32 random bytes.
2. Every seat has committed to a nonce of 32 bytes by ``SHA-256(nonce)`` and reveals it with its ready. For a seat that
   reveals none, the commitment itself takes the nonce's place; a seat without a commitment, and every bot, uses the
   public nonce of ``public_nonce``.
3. The transcript is the algorithm's label, the table's id, the hand's number in decimal digits, the ruleset's id, the
   server's commitment, the four commitments and the four nonces in order of the seats, each as UTF-8 or raw bytes
   behind its length as four bytes, most significant first.
4. ``seed = HMAC-SHA256(server seed, transcript)``. Block ``i = 0, 1, …`` of the stream is ``HMAC-SHA256(seed, i)``
   with ``i`` as eight bytes, most significant first.
5. The tiles 0..143 are shuffled from the last place down to the second: for the place ``p`` bytes are taken from the
   stream until one is below the greatest multiple of ``p + 1`` that is at most 256; its remainder by ``p + 1`` names
   the place to swap with.

The library has no source of randomness of its own: seeds and nonces come in as arguments.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from libs.mahjong.tiles import TILE_COUNT, Seat, Tile

ALGORITHM: Final = "eastwind-wall-1"
"""The label of this procedure; every record names the one it was made with."""
SECRET_BYTES: Final = 32
"""The length of a server seed, of a nonce and of their commitments."""
NO_COMMITMENT: Final = b""
"""Stands for the commitment of a seat that made none."""


class UnknownAlgorithm(LookupError):
    """A record was made with a procedure that this library does not know; ``label`` names it."""

    def __init__(self, label: str) -> None:
        super().__init__(f"unknown wall algorithm {label!r}")
        self.label = label


@dataclass(frozen=True, slots=True)
class SeatNonce:
    """One seat's part in the wall: its commitment and the nonce it revealed; ``None`` when it revealed none."""

    commitment: bytes
    nonce: bytes | None

    @property
    def contribution(self) -> bytes:
        """What enters the transcript: the nonce, or the commitment where the reveal is missing."""
        return self.commitment if self.nonce is None else self.nonce

    @property
    def honest(self) -> bool:
        """True unless a nonce was revealed that the commitment does not seal."""
        return self.nonce is None or commit(self.nonce) == self.commitment


def commit(secret: bytes) -> bytes:
    """Return the commitment to a secret of 32 bytes. Raises ``ValueError`` for another length."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a secret has {SECRET_BYTES} bytes, not {len(secret)}")
    return sha256(secret).digest()


def public_nonce(table_id: str, hand: int, seat: Seat) -> bytes:
    """Return the nonce of a bot, or of a seat that committed to none: the same for everybody who asks."""
    return sha256(_framed(f"{ALGORITHM}/public", table_id, str(hand), str(seat))).digest()


def seat_nonce(table_id: str, hand: int, seat: Seat, commitment: bytes, nonce: bytes | None) -> SeatNonce:
    """Return a seat's part in the wall, by the public rule for a seat without a commitment."""
    if commitment == NO_COMMITMENT:
        nonce = public_nonce(table_id, hand, seat)
        commitment = commit(nonce)
    return SeatNonce(commitment, nonce)


def transcript(
    table_id: str, hand: int, ruleset_id: str, server_commitment: bytes, seats: tuple[SeatNonce, ...]
) -> bytes:
    """Return the canonical bytes of all that is public about a wall before it is built. ``hand`` counts from 1."""
    return _framed(
        ALGORITHM,
        table_id,
        str(hand),
        ruleset_id,
        server_commitment,
        *(seat.commitment for seat in seats),
        *(seat.contribution for seat in seats),
    )


def wall_seed(server_seed: bytes, transcript_: bytes) -> bytes:
    """Return the 32 bytes that decide the wall."""
    return hmac.digest(server_seed, transcript_, "sha256")


def stream(seed: bytes) -> Iterator[int]:
    """Yield the endless stream of bytes of a seed."""
    counter = 0
    while True:
        yield from hmac.digest(seed, counter.to_bytes(8, "big"), "sha256")
        counter += 1


def shuffle(seed: bytes) -> tuple[Tile, ...]:
    """Return the 144 tile ids in the order that the seed decides; place 0 is the front of the wall."""
    tiles = list(range(TILE_COUNT))
    values = stream(seed)
    for place in range(TILE_COUNT - 1, 0, -1):
        limit = _LIMITS[place]
        value = next(values)
        while value >= limit:
            value = next(values)
        other = value % (place + 1)
        tiles[place], tiles[other] = tiles[other], tiles[place]
    return tuple(tiles)


def build_wall(
    algorithm: str, table_id: str, hand: int, ruleset_id: str, server_seed: bytes, seats: tuple[SeatNonce, ...]
) -> tuple[Tile, ...]:
    """Return the wall of a hand from everything that decides it.

    Raises ``UnknownAlgorithm`` for another label than those of this library, ``ValueError`` for a seed of another
    length than 32 bytes or a number of seats other than four.
    """
    if algorithm != ALGORITHM:
        raise UnknownAlgorithm(algorithm)
    if len(seats) != 4:
        raise ValueError(f"a table has four seats, not {len(seats)}")
    return shuffle(wall_seed(server_seed, transcript(table_id, hand, ruleset_id, commit(server_seed), seats)))


def _framed(*fields: str | bytes) -> bytes:
    parts: list[bytes] = []
    for field in fields:
        raw = field.encode() if isinstance(field, str) else field
        parts += (len(raw).to_bytes(4, "big"), raw)
    return b"".join(parts)


_LIMITS: Final = (0, *(256 - 256 % (place + 1) for place in range(1, TILE_COUNT)))
"""For every place the greatest multiple of its number of choices within a byte: bytes from there on are rejected."""
