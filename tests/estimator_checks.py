"""scikit-learn's own checks of an estimator, as parameters of a test."""

from collections.abc import Mapping
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def checks_of(estimator: Any, left_out: Mapping[str, str], failing: Mapping[str, str]) -> list[Any]:
    """Return every check; those that must fail are expected to, and it is an error if they pass.

    `left_out` names checks whose outcome is a matter of chance, and `failing` those that cannot pass, each with the
    reason; a check may be named with its arguments, as in "check_regressors_train(X_dtype=float32)".
    """
    found, seen = [], set()
    for each, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        asked = ",".join(f"{key}={getattr(value, '__name__', value)}" for key, value in check.keywords.items())
        named = f"{name}({asked})" if asked else name
        seen |= {name, named}
        if name in left_out:
            continue
        why = failing.get(named, failing.get(name))
        marks = [] if why is None else [pytest.mark.xfail(reason=why, strict=True)]
        found.append(pytest.param(each, check, id=named, marks=marks))
    unknown = (set(left_out) | set(failing)) - seen
    assert not unknown, f"scikit-learn has no such checks: {sorted(unknown)}"
    return found
