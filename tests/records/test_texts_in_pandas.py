"""Texts that almost are numbers, in the dtypes that pandas has for texts: none of them may make a run fail."""

from typing import Any

import pandas as pd
import pytest

import discreet as dc
from conformance.counting import assert_one_record_moved, counts_of, moments_of

DTYPES = ("string[python]", "string[pyarrow]", "str", "object", "category")
ODD: tuple[str | None, ...] = (
    None, "", ".", "-", "+", "1e", "e1", "5e-324", "1e400", "12345678901234567890", "0x10", "1_000", "٣", "1 ", " 1",
    "nan", "inf", "1\n", "--1", "1.2.3",
)  # fmt: skip
AGES = dc.Column.banded("age", (0, 18, 65, 120))
MODEL = dc.LinearRegression("y", ["age"], {"age": (0, 120), "y": (0, 1)}, missing={"age": 0, "y": 0})


def frame(dtype: str, odd: str | None) -> Any:
    return pd.DataFrame({"age": pd.Series(["44", "17", "70", odd], dtype=dtype), "y": [0.5, 0.25, 1.0, 0.0]})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("odd", ODD)
def test_bands_take_every_text(dtype: str, odd: str | None) -> None:
    before, after = (counts_of(AGES, frame(dtype, value)) for value in ("44", odd))
    assert before == [1, 2, 1, 0]
    assert_one_record_moved(before, after)
    assert after in ([1, 1, 1, 1], [2, 1, 1, 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("odd", ODD)
def test_regressions_take_every_text(dtype: str, odd: str | None) -> None:
    plain, found = (moments_of(MODEL, frame(dtype, value)) for value in ("0", odd))
    assert found == plain  # undeclared texts count as the declared missing value, 0; 5e-324 lies nearest to 0
