"""The ledger under racing charges and killed processes, in a file and on a server.

`make validate-full` takes 10,000 charges and 1,000 kills, `make validate` 1,000 and 50.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_results import repeats

import discreet as dc
import postgresql_server
from discreet.guarantees import chain
from ledger_trials import check_after_kills, killed, race

SEED = 2_500_000  # of the random moments
KILLS, ATTEMPTS, ROOM = repeats(50, 1000), repeats(125, 1250), repeats(100, 1000)


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "file":
        yield str(tmp_path / "l.db")
        return
    if not postgresql_server.is_here():
        pytest.skip(postgresql_server.WHY_MISSING)
    with postgresql_server.running() as server:
        yield server.place()


def test_racing_charges_take_exactly_the_room_there_is(place: str) -> None:
    race(place, processes=8, attempts=ATTEMPTS, room=ROOM)
    print(f"\n{8 * ATTEMPTS} racing charges of 8 processes, room for {ROOM}: exactly {ROOM}, sums exact, chain intact")


def test_kills_lose_nothing(place: str) -> None:
    dc.Ledger.create(place, epsilon="1000")
    given: dict[str, str] = {}
    for number in range(KILLS):
        point = chain.POINTS[number % len(chain.POINTS)] if number % 2 else None
        given |= killed(place, f"process {number}", SEED + number, point)
    charges, releases = check_after_kills(place, given)
    print(f"\n{KILLS} kills: {charges} charges, {releases} releases, {len(given)} given before the kill, none lost")
    assert charges >= releases >= len(given)
