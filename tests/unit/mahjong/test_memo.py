"""A mapping that computes what it does not hold."""

import pytest

from libs.mahjong.memo import Memo


def test_a_value_is_computed_once() -> None:
    asked: list[int] = []

    def double(number: int) -> int:
        asked.append(number)
        return 2 * number

    memo = Memo(double, 10)
    assert [memo[3], memo[3], memo[4]] == [6, 6, 8]
    assert asked == [3, 4]


def test_no_more_than_its_bound_is_kept() -> None:
    memo = Memo(str, 2)
    assert [memo[number] for number in range(5)] == ["0", "1", "2", "3", "4"]
    assert dict(memo) == {4: "4"}


def test_an_error_goes_through_and_nothing_is_kept() -> None:
    memo = Memo(lambda number: 1 // number, 2)
    with pytest.raises(ZeroDivisionError):
        memo[0]
    assert 0 not in memo
