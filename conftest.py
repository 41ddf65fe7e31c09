"""How the suite is run: in which process, with which bits, what is slow, and what each test cost."""

import gc
import json
import time
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import pytest

import discreet as dc

SLOW = Path(__file__).parent / "tests" / "slow.txt"
_COSTS: dict[str, float] = {}

gc.disable()  # until all tests are collected: nothing of what is loaded goes away


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `make test-slow` and `make slow-list` say."""
    parser.addoption("--slow", action="store_true", help="run what tests/slow.txt lists, and nothing else")
    parser.addoption("--everything", action="store_true", help="run what tests/slow.txt lists, too")
    parser.addoption(
        "--order", type=int, metavar="SEED", help="run the tests in another order, which follows from a seed"
    )
    parser.addoption("--costs", metavar="FILE", help="write the CPU seconds of every test to this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Name the suite's one mark."""
    config.addinivalue_line(
        "markers", "secure_bits(false_alarms): takes the system's secure bits; how often it fails by chance"
    )


def pytest_collection_finish() -> None:
    """Let garbage be looked for from here on, but not among modules and tests, over and over."""
    gc.freeze()
    gc.enable()


def name_of(item: pytest.Item) -> str:
    """Return how a test is called in lists, without the name of its group."""
    return item.nodeid.partition("@")[0] if "[" not in item.nodeid else item.nodeid[: item.nodeid.rindex("]") + 1]


@pytest.hookimpl(tryfirst=True)  # before groups are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests, or all others; let all tests of a mechanism, and of a file, run in one process.

    What is worked out once for a mechanism, and what the tests of a file share, is then worked out by one process only.
    A file, or a test, that is asked for by its own name is run as a whole.
    """
    slow, asked = set(SLOW.read_text().splitlines()), config.args
    if not config.getoption("everything") and not any(".py" in each for each in asked):
        wanted = bool(config.getoption("slow"))
        left_out = [item for item in items if (name_of(item) in slow) is not wanted]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if (name_of(item) in slow) is wanted]
    if (seed := config.getoption("order")) is not None:
        Random(seed).shuffle(items)
    kinds = dc.Mechanism.registered()
    for item in items:
        chance = item.get_closest_marker("secure_bits")
        assert chance is None or chance.kwargs["false_alarms"] <= 1e-6, f"{item.nodeid} fails by chance too often"
        named = getattr(item, "callspec", None)
        found = [value for value in (named.params.values() if named else ()) if isinstance(value, str)]
        for kind in [value for value in found if value in kinds][:1]:
            item.add_marker(pytest.mark.xdist_group(kind))
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@contextmanager
def bits_named(name: str) -> Iterator[None]:
    """Let `publish` draw the same noise every time: its bits follow from a name. Programs that are started do not."""
    seeded = dc.SeededBits(zlib.crc32(name.encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dc.SystemBits, "words", lambda _, count: seeded.words(count))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Note what a test costs, with the programs that it waited for, and fix its noise by its name.

    Tests of what only the system's own bits can show ask for them with `secure_bits`, and say how often they fail by
    chance.
    """
    item.user_properties.append(("cpu before", _cpu()))
    with nullcontext() if item.get_closest_marker("secure_bits") else bits_named(name_of(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Fix the noise of what several tests share by its own name: which of them comes first must not matter."""
    shared = f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param_index', 0)}]"
    with nullcontext() if fixturedef.scope == "function" else bits_named(shared):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Hand on what a test has cost so far, from the worker to the process that lists it."""
    report = yield
    before: Any = dict(item.user_properties)["cpu before"]
    report.user_properties = [("cpu", _cpu() - before)]
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what a test has cost up to here: of its three parts the last tells all."""
    cost: Any = dict(report.user_properties).get("cpu", 0.0)
    _COSTS[report.nodeid] = cost


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what the tests cost, where that was asked for."""
    place = session.config.getoption("costs")
    if place and not hasattr(session.config, "workerinput"):
        Path(place).write_text(json.dumps(dict(sorted(_COSTS.items())), indent=0))


def _cpu() -> float:
    children = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
