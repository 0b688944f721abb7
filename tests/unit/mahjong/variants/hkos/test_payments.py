"""The payment table of hkos-3-v1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.mahjong.scores import sum_payments
from libs.mahjong.variants.hkos.payments import discard_points, payments, self_draw_points

TABLE = {3: 8, 4: 16, 5: 24, 6: 32, 7: 48, 8: 64, 9: 96, 10: 128, 11: 192, 12: 256, 13: 384}


@given(faan=st.integers(3, 16), winner=st.integers(0, 3), source=st.none() | st.integers(0, 3))
def test_c014_payments_are_whole_add_to_zero_and_know_no_east(faan: int, winner: int, source: int | None) -> None:
    if source == winner:
        source = None
    made = payments(winner, source, faan)
    changes = sum_payments(made)
    price = TABLE[min(faan, 13)]
    assert sum(changes) == 0
    assert all(type(payment.amount) is int and payment.payee == winner for payment in made)
    if source is None:
        assert [changes[wind] for wind in range(4) if wind != winner] == [-(price // 2)] * 3
        assert 2 * (price // 2) == price
    else:
        assert len(made) == 1
        assert changes[source] == -price


def test_c014_more_than_thirteen_faan_cost_as_thirteen() -> None:
    assert {discard_points(faan) for faan in range(13, 60)} == {384}
    assert {self_draw_points(faan) for faan in range(13, 60)} == {192}


@pytest.mark.parametrize("faan", [2, 0, -1])
def test_less_than_the_minimum_has_no_price(faan: int) -> None:
    with pytest.raises(ValueError, match="3 are needed"):
        discard_points(faan)
