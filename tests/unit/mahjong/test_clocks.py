"""Clock arithmetic: base, reserve, lag and outages (common §3.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.mahjong import clocks
from libs.mahjong.clocks import (
    BLITZ,
    BULLET,
    LAG_CAP_MS,
    LAG_GAIN_MS,
    LAG_START_MS,
    RELAXED,
    STANDARD,
    UNTIMED,
    Charge,
    SeatClock,
    TimeControl,
    Wait,
    WaitKind,
    common_wait,
    fresh_clock,
    wait_for,
)

START = 1_000_000


def own_turn(clock: SeatClock, control: TimeControl = STANDARD) -> Wait:
    wait = wait_for(control, WaitKind.OWN_TURN, clock, START)
    assert wait is not None
    return wait


def test_the_presets_are_those_of_the_rules() -> None:
    assert [(c.base_ms, c.reserve_ms) for c in (BULLET, BLITZ, STANDARD, RELAXED, UNTIMED)] == [
        (2_000, 5_000),
        (3_000, 10_000),
        (5_000, 20_000),
        (15_000, 60_000),
        (0, 0),
    ]
    assert set(clocks.TIME_CONTROLS.values()) == {BULLET, BLITZ, STANDARD, RELAXED, UNTIMED}
    assert not UNTIMED.timed


@pytest.mark.parametrize(("base", "reserve"), [(-1, 0), (1_000, -1), (0, 1_000)])
def test_a_time_control_refuses_impossible_times(base: int, reserve: int) -> None:
    with pytest.raises(ValueError, match=r"time|reserve"):
        TimeControl(base, reserve)


def test_c060_an_answer_at_the_deadline_counts_and_one_a_millisecond_later_does_not() -> None:
    wait = own_turn(fresh_clock(STANDARD))
    deadline = START + 25_000
    assert wait.deadline_ms == deadline
    assert [wait.accepts(deadline + late, 0) for late in (-1, 0, 1)] == [True, True, False]
    assert [wait.is_over(deadline + late, 0) for late in (-1, 0, 1)] == [False, False, True]


def test_c063_the_base_comes_first_and_the_reserve_is_per_hand() -> None:
    clock = fresh_clock(STANDARD)
    reserves = []
    for taken in (9_000, 3_000, 6_000):
        wait = own_turn(clock)
        clock = clock.answered(wait.charge(START + taken, 0), own_turn=True)
        reserves.append(clock.reserve_ms)
    assert reserves == [16_000, 16_000, 15_000]

    fourth = own_turn(clock)
    assert fourth.deadline_ms - START == 20_000
    assert fourth.is_over(START + 30_000, 0)
    clock = clock.timed_out(fourth.charge(fourth.deadline_ms, 0), own_turn=True)
    assert clock.reserve_ms == 0
    assert own_turn(clock).deadline_ms - START == 5_000
    assert clock.refilled(STANDARD).reserve_ms == 20_000


@pytest.mark.parametrize(("control", "base"), [(BULLET, 2_000), (BLITZ, 3_000), (STANDARD, 5_000), (RELAXED, 15_000)])
def test_c064_claim_windows_use_the_base_only(control: TimeControl, base: int) -> None:
    clock = fresh_clock(control)
    wait = wait_for(control, WaitKind.CLAIM_WINDOW, clock, START)
    assert wait is not None
    assert wait.deadline_ms == START + base
    assert clock.timed_out(wait.charge(wait.deadline_ms, 0), own_turn=False).reserve_ms == control.reserve_ms


@pytest.mark.parametrize(("control", "base"), [(BULLET, 15_000), (STANDARD, 15_000), (RELAXED, 15_000)])
def test_opening_choices_have_at_least_fifteen_seconds_and_no_reserve(control: TimeControl, base: int) -> None:
    wait = wait_for(control, WaitKind.OPENING_CHOICE, fresh_clock(control), START)
    assert wait is not None
    assert (wait.base_ms, wait.reserve_ms) == (base, 0)


@pytest.mark.parametrize("kind", WaitKind)
def test_nothing_is_timed_at_an_untimed_table(kind: WaitKind) -> None:
    assert wait_for(UNTIMED, kind, fresh_clock(UNTIMED), START) is None


def test_c069_every_announced_deadline_is_the_one_that_is_enforced() -> None:
    clock = fresh_clock(STANDARD)
    for kind in WaitKind:
        wait = wait_for(STANDARD, kind, clock, START)
        assert wait is not None
        assert wait.deadline_ms == wait.opened_ms + wait.base_ms + wait.reserve_ms
        assert wait.accepts(wait.deadline_ms, clock.allowance_ms)
        assert wait.is_over(wait.deadline_ms + clock.allowance_ms + 1, clock.allowance_ms)


def test_c070_a_moment_before_the_prompt_costs_nothing() -> None:
    wait = own_turn(fresh_clock(STANDARD))
    assert wait.charge(START - 30_000, 0) == Charge(0, 0)
    assert wait.remaining_ms(START + 3_600_000) == 0


def test_an_outage_moves_the_deadline_and_is_not_charged() -> None:
    wait = own_turn(fresh_clock(STANDARD)).grant(7_000)
    assert wait.deadline_ms == START + 32_000
    assert wait.charge(START + 12_000, 0).reserve_ms == 0
    assert wait.charge(START + 13_000, 0).reserve_ms == 1_000
    assert wait.grant(-5) == wait


def test_three_missed_turns_shorten_the_wait_until_the_player_acts() -> None:
    clock = fresh_clock(STANDARD)
    for _ in range(3):
        assert not clock.waits_short
        clock = clock.timed_out(Charge(0, 0), own_turn=True)
    for kind in WaitKind:
        wait = wait_for(STANDARD, kind, clock, START)
        assert wait == Wait(START, 1_000, 0)
    assert own_turn(clock.answered(Charge(0, 0), own_turn=True)).base_ms == 5_000
    assert own_turn(clock.returned()).base_ms == 5_000


def test_missed_claims_do_not_shorten_the_public_wait() -> None:
    clock = fresh_clock(STANDARD)
    for _ in range(5):
        clock = clock.timed_out(Charge(0, 0), own_turn=False)
    assert not clock.waits_short


def test_the_common_deadline_is_the_latest_of_all_who_are_asked() -> None:
    short, full = Wait(START, 1_000, 0), Wait(START, 5_000, 0)
    assert common_wait((short, full)) == full
    with pytest.raises(ValueError, match="nobody"):
        common_wait(())


def test_lag_is_credited_as_far_as_the_quota_goes() -> None:
    clock = fresh_clock(STANDARD).measured(2_000)
    assert clock.allowance_ms == LAG_START_MS
    wait = own_turn(clock)
    charge = wait.charge(START + 5_000 + LAG_START_MS + 100, clock.allowance_ms)
    assert charge == Charge(reserve_ms=100, lag_ms=LAG_START_MS)
    after = clock.answered(charge, own_turn=True)
    assert after.quota_ms == LAG_GAIN_MS
    assert after.allowance_ms == LAG_GAIN_MS


def test_lag_within_the_base_spends_no_quota_and_the_quota_is_capped() -> None:
    clock = fresh_clock(STANDARD).measured(300)
    for _ in range(20):
        clock = clock.answered(own_turn(clock).charge(START + 4_000, clock.allowance_ms), own_turn=True)
    assert clock.quota_ms == LAG_CAP_MS
    assert clock.measured(-5).allowance_ms == 0


@given(
    base=st.integers(1, 60_000),
    reserve=st.integers(0, 60_000),
    taken=st.integers(-60_000, 200_000),
    trip=st.integers(-100, 5_000),
    outage=st.integers(0, 10_000),
)
def test_a_charge_never_exceeds_what_there_is(base: int, reserve: int, taken: int, trip: int, outage: int) -> None:
    clock = SeatClock(reserve_ms=reserve).measured(trip)
    wait = Wait(START, base, reserve).grant(outage)
    allowance = clock.allowance_ms
    charge = wait.charge(START + taken, allowance)
    after = clock.answered(charge, own_turn=True)
    assert 0 <= after.reserve_ms <= reserve
    assert 0 <= after.quota_ms <= LAG_CAP_MS
    if taken <= base + outage:
        assert charge == Charge(0, 0)
    if wait.accepts(START + taken, allowance) and taken > base + outage:
        assert charge.reserve_ms + charge.lag_ms == taken - base - outage
    assert wait.accepts(START + taken, allowance) is not wait.is_over(START + taken, allowance)
