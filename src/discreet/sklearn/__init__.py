"""Estimators for scikit-learn over the same interface: declarations, a ledger, one release, noise-aware inference.

`fit` counts or sums the records, publishes what it found under pure epsilon-differential privacy and reads the release;
nothing else of the records is kept. Levels and bounds are declared, never read from the data, and values that do not
fit have a declared level: so neither an error nor the fitted estimator reveals more than the release does.
"""

from discreet._core.errors import DiscreetError

try:
    import sklearn  # noqa: F401 - the real one: imports are absolute
except ImportError:
    raise DiscreetError('The estimators need scikit-learn: pip install "discreet[sklearn]".') from None

from discreet.sklearn._bayesian_ridge import PrivateBayesianRidge
from discreet.sklearn._naive_bayes import PrivateNaiveBayes

__all__ = ["PrivateBayesianRidge", "PrivateNaiveBayes"]
