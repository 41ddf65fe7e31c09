"""Write tests/slow.txt, the tests that `make test` leaves to `make test-slow`, from what each of them cost.

    pytest -n 2 --dist loadgroup --everything --costs build/costs.json
    python tests/list_slow.py build/costs.json

Slow is what takes more than a CPU second and guards no promise. What guards one is never slow, whatever it takes: the
contract of every mechanism at its smallest settings, privacy by listing, planted mistakes, neighbours in every source
of records, the order of charge and draw with its failpoints, and who may do what on the server.
"""

import json
import re
import sys
from pathlib import Path

LIMIT = 1.0  # CPU seconds
GUARDS = (
    r"tests/contracts/test_contract_table\.py::test_contract\[\w+-0-",
    r"tests/contracts/test_contract_table\.py::test_(every|a_kind|a_ledger)",
    r"tests/contracts/test_planted_mechanisms\.py",
    r"tests/contracts/test_documents\.py",
    r"tests/privacy/",
    r"tests/ledger/(?!test_ledger_crashes|test_metric_ledger)",
    r"tests/records/(?!test_files\.py::test_spark|test_spark)",
    r"tests/publishing/",
    r"tests/server/(?!test_processes|test_browser)",
)
"""Names of tests that guard a promise, as patterns from the beginning."""
SHARED = (r"(tests/contracts/test_contract_table\.py::test_contract\[\w+-\d+-)",)
"""Tests that share what is worked out once: they are slow together or not at all."""


def slow_ones(costs: dict[str, float]) -> list[str]:
    """Return the names of the slow tests, in order."""
    names = {re.sub(r"@\w+$", "", name): cost for name, cost in costs.items()}
    slow = {name for name, cost in names.items() if cost > LIMIT and not _is_among(GUARDS, name)}
    groups = {found[1] for name in slow for pattern in SHARED if (found := re.match(pattern, name))}
    return sorted(slow | {name for name in names if name.startswith(tuple(groups))})


def _is_among(patterns: tuple[str, ...], name: str) -> bool:
    return any(re.match(pattern, name) for pattern in patterns)


def main() -> None:
    """Write the list, and say what each half costs."""
    costs: dict[str, float] = json.loads(Path(sys.argv[1]).read_text())
    slow = slow_ones(costs)
    Path(__file__).with_name("slow.txt").write_text("".join(f"{name}\n" for name in slow))
    total, apart = sum(costs.values()), sum(cost for name, cost in costs.items() if re.sub(r"@\w+$", "", name) in slow)
    print(f"{len(costs)} tests, {total / 60:.1f} CPU minutes; slow: {len(slow)}, {apart / 60:.1f} CPU minutes")


if __name__ == "__main__":
    main()
