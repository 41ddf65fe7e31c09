"""A served survey for every test that asks for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import Served, served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as found:
        yield found
