"""The wall that nobody can steer."""

import hashlib
import json
from itertools import islice
from pathlib import Path

import pytest

from libs.mahjong.fairness import (
    ALGORITHM,
    NO_COMMITMENT,
    SeatNonce,
    UnknownAlgorithm,
    build_wall,
    commit,
    public_nonce,
    seat_nonce,
    shuffle,
    stream,
    transcript,
    wall_seed,
)
from libs.mahjong.tiles import TILE_COUNT

VECTORS = Path(__file__).parents[2] / "vectors" / "fairness.json"

SERVER_SEED = bytes(range(32))


def seed_of(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(8, "big")).digest()


def revealed(number: int) -> SeatNonce:
    nonce = seed_of(1_000 + number)
    return SeatNonce(commit(nonce), nonce)


SEATS = tuple(revealed(seat) for seat in range(4))


def wall_of(seats: tuple[SeatNonce, ...] = SEATS, hand: int = 1, server_seed: bytes = SERVER_SEED) -> tuple[int, ...]:
    return build_wall(ALGORITHM, "table", hand, "hkos-3-v1", server_seed, seats)


def test_the_vectors_that_the_browser_checks_too() -> None:
    vectors = json.loads(VECTORS.read_text())
    assert vectors["algorithm"] == ALGORITHM
    for vector in vectors["walls"]:
        seats = tuple(
            seat_nonce(
                vector["table_id"],
                vector["hand"],
                seat,
                bytes.fromhex(entry["commitment"]),
                None if entry["nonce"] is None else bytes.fromhex(entry["nonce"]),
            )
            for seat, entry in enumerate(vector["seats"])
        )
        server_seed = bytes.fromhex(vector["server_seed"])
        assert commit(server_seed).hex() == vector["server_commitment"]
        text = transcript(vector["table_id"], vector["hand"], vector["ruleset_id"], commit(server_seed), seats)
        assert text.hex() == vector["transcript"]
        seed = wall_seed(server_seed, text)
        assert seed.hex() == vector["seed"]
        assert bytes(islice(stream(seed), 48)).hex() == vector["stream"]
        assert list(shuffle(seed)) == vector["wall"]
        assert (
            list(build_wall(ALGORITHM, vector["table_id"], vector["hand"], vector["ruleset_id"], server_seed, seats))
            == (vector["wall"])
        )


def test_every_part_of_the_transcript_decides_the_wall() -> None:
    other_nonce = (*SEATS[:3], revealed(9))
    other_commitment = (*SEATS[:3], SeatNonce(seed_of(7), SEATS[3].nonce))
    walls = {
        wall_of(),
        wall_of(other_nonce),
        wall_of(other_commitment),
        wall_of((SEATS[1], SEATS[0], SEATS[2], SEATS[3])),
        wall_of(hand=2),
        wall_of(server_seed=seed_of(5)),
        build_wall(ALGORITHM, "table2", 1, "hkos-3-v1", SERVER_SEED, SEATS),
        build_wall(ALGORITHM, "table", 1, "classical-v1", SERVER_SEED, SEATS),
    }
    assert len(walls) == 8


def test_fields_cannot_run_into_each_other() -> None:
    commitment = commit(SERVER_SEED)
    assert transcript("a1", 1, "x", commitment, SEATS) != transcript("a", 11, "x", commitment, SEATS)


def test_a_missing_reveal_is_replaced_by_the_commitment() -> None:
    silent = SeatNonce(SEATS[3].commitment, None)
    assert silent.contribution == SEATS[3].commitment
    assert silent.honest
    assert wall_of((*SEATS[:3], silent)) != wall_of()


def test_a_nonce_that_its_commitment_does_not_seal_shows() -> None:
    assert revealed(1).honest
    assert not SeatNonce(commit(seed_of(1)), seed_of(2)).honest


def test_bots_follow_a_public_rule() -> None:
    nonce = public_nonce("table", 3, 2)
    assert seat_nonce("table", 3, 2, NO_COMMITMENT, None) == SeatNonce(commit(nonce), nonce)
    assert len({public_nonce("table", hand, seat) for hand in range(1, 4) for seat in range(4)}) == 12


def test_secrets_of_another_length_and_unknown_algorithms_are_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        commit(b"short")
    with pytest.raises(ValueError, match="32 bytes"):
        wall_of(server_seed=b"short")
    with pytest.raises(ValueError, match="four seats"):
        wall_of(SEATS[:3])
    with pytest.raises(UnknownAlgorithm) as refused:
        build_wall("eastwind-wall-9", "table", 1, "hkos-3-v1", SERVER_SEED, SEATS)
    assert refused.value.label == "eastwind-wall-9"


def test_c134_tiles_fall_evenly_on_places_and_no_wall_comes_twice() -> None:
    walls = 6_000
    counts = [0] * (TILE_COUNT * TILE_COUNT)
    seen = set()
    for number in range(walls):
        wall = shuffle(seed_of(number))
        seen.add(wall)
        for index, tile in zip(range(0, TILE_COUNT * TILE_COUNT, TILE_COUNT), wall, strict=True):
            counts[index + tile] += 1
    assert len(seen) == walls
    expected = walls / TILE_COUNT
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    # With df degrees of freedom the statistic has mean df and variance 2 df; five deviations are one in millions.
    freedom = (TILE_COUNT - 1) ** 2
    assert abs(statistic - freedom) < 5 * (2 * freedom) ** 0.5


def test_c134_a_wall_holds_every_tile_once_and_depends_on_the_callers_bytes_alone() -> None:
    wall = wall_of()
    assert sorted(wall) == list(range(TILE_COUNT))
    assert wall_of() == wall
