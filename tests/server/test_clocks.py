"""Waits and limits go by a monotonic clock: setting the time of day in their midst changes nothing."""

from collections.abc import Callable

import pytest

from discreet.server._limits import Buckets, TooOftenError
from discreet.server._people import FIRST_LOCK, FREE_FAILURES, LONGEST_LOCK, SignInError
from discreet.server._slot import Outcome
from serving import PASSWORD, Served, Time, ask, state

JUMPS = pytest.mark.parametrize("jump", [-3600.0, 3600.0], ids=["an hour back", "an hour ahead"])


@JUMPS
def test_a_slot_lasts_as_long_as_ever_if_the_clock_is_set_within_it(server: Served, jump: float) -> None:
    slept, tried, inside = list[float](), list[float](), server.publisher._slot

    def slot(work: Callable[[], None], seconds: float) -> Outcome:
        tried.append(seconds)
        if len(tried) == 2:  # the first only reads the question; this one counts and draws
            server.time.wrong_by, server.time.now = jump, server.time.now + 1.5
        return inside(work, seconds)

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        server.time.sleep(seconds)

    server.publisher._sleep, server.publisher._slot = sleep, slot
    found = ask(server.program("analyst"))
    assert server.publisher.step()
    assert slept == [server.publisher.study.serving.visible_after - 1.5]
    assert state(server, found)[0] == "answered"


@JUMPS
def test_rate_limits_do_not_notice(server: Served, jump: float) -> None:
    time = Time()
    buckets = server.front.buckets = Buckets(time.monotonic)
    for _ in range(3):
        buckets.take("work", "ann", 3)
    time.wrong_by = jump
    with pytest.raises(TooOftenError, match="Try again in 20 seconds"):
        buckets.take("work", "ann", 3)
    time.now += 20
    buckets.take("work", "ann", 3)


def test_a_front_limits_by_the_monotonic_clock(server: Served) -> None:
    assert server.front.buckets._clock == server.time.monotonic


@JUMPS
def test_signs_of_life_are_told_every_few_seconds_all_the_same(server: Served, jump: float) -> None:
    server.publisher._live()
    told = server.publisher._told_at
    server.time.wrong_by = jump
    server.publisher._live()
    assert server.publisher._told_at == told
    server.time.now += 6
    server.publisher._live()
    assert server.publisher._told_at == server.time.now


def test_a_clock_that_was_set_back_locks_nobody_out_for_longer_than_a_lock_lasts(server: Served) -> None:
    people = server.front.people
    for _ in range(FREE_FAILURES):
        with pytest.raises(SignInError):
            people.check("ann", "wrong")
    with pytest.raises(SignInError):
        people.check("ann", PASSWORD)
    server.time.wrong_by = -(LONGEST_LOCK + FIRST_LOCK + 1)
    people.check("ann", PASSWORD)
