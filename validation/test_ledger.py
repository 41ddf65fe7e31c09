"""The ledger at full size: 10,000 racing charges, and 1,000 processes killed, in a file and on a server.

Nothing here waits for a disk: that a killed process loses nothing does not hang on it.
"""

from collections.abc import Iterator

import pytest

import postgresql_server
from discreet.ledger import POINTS
from ledger_trials import check_after_kills, in_memory, killed, published_while_killed, race, ready

SEED = 2_500_000  # of the random moments
KILLS = 1000
SERVER_KILLS = 20


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "file":
        with in_memory() as folder:
            yield str(folder / "l.db")
        return
    if not postgresql_server.is_here():
        pytest.skip(postgresql_server.WHY_MISSING)
    with postgresql_server.running() as server:
        yield server.place()


def test_ten_thousand_racing_charges_take_exactly_the_room_for_a_thousand(place: str) -> None:
    race(place, processes=8, attempts=1250, room=1000)
    print("\n10,000 racing charges of 8 processes, room for 1,000: exactly 1,000, sums exact, chain intact")


def test_a_thousand_kills_lose_nothing(place: str) -> None:
    ready(place, epsilon="1000")
    given: dict[str, str] = {}
    for number in range(KILLS):
        point = POINTS[number % len(POINTS)] if number % 2 else None
        given |= killed(place, f"process {number}", SEED + number, point)
    charges, releases = check_after_kills(place, given)
    print(f"\n{KILLS} kills: {charges} charges, {releases} releases, {len(given)} given before the kill, none lost")
    assert charges >= releases >= len(given) > 0


def test_a_server_killed_under_many_who_publish_loses_nothing() -> None:
    """Kill -9 a session's process of the server: all of them end, and what was not flushed is gone."""
    if not postgresql_server.is_here():
        pytest.skip(postgresql_server.WHY_MISSING)
    with postgresql_server.running() as server:
        place = server.place()
        ready(place, epsilon="1000")
        given = published_while_killed(place, server, processes=4, kills=SERVER_KILLS, seed=SEED)
        charges, releases = check_after_kills(place, given)
    print(
        f"\n{SERVER_KILLS} kills of the server: {charges} charges, {releases} releases, {len(given)} given, none lost"
    )
    assert charges >= releases >= len(given) > 0
