"""What all tests of reading share."""

import warnings
from collections.abc import Iterator

import pytest

import discreet as dc


@pytest.fixture(autouse=True)
def _little_information_is_no_news_here() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        yield
