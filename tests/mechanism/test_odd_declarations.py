"""Models that are declared with nothing, or with something odd, are refused in words."""

from typing import Any

import numpy as np
import pytest

import discreet as dc


@pytest.mark.parametrize("columns", [None, 5, [], [None], [3.2], object()])
def test_a_table_of_what_are_no_columns_is_refused(columns: Any) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Categories(columns)


NO_NETWORKS: list[Any] = [(None, []), (5, []), ("x", []), ([None], [()]), ([], None), ([], [5])]


@pytest.mark.parametrize(("variables", "parents"), NO_NETWORKS)
def test_a_network_of_what_are_no_variables_is_refused(variables: Any, parents: Any) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Network(variables, parents)


def test_an_array_is_no_number_that_missing_values_count_as() -> None:
    with pytest.raises(dc.DeclarationError, match="outside"):
        dc.ExponentialRate("n", high=10, bands=20, outside=np.array([10, 5]))  # type: ignore[arg-type]
