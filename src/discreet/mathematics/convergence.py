"""Whether several chains have found the same distribution, and how many independent draws theirs are worth.

`split_r_hat` compares the spread between half chains with the spread within them (Gelman and Rubin, 1992; in halves as
in Vehtari and others, 2021): 1 if all say the same. `effective_size` divides the number of draws by their
autocorrelation time, summed over pairs of lags while these are positive (Geyer, 1992). Values have axes (chains, draws,
quantities).
"""

import numpy as np

from discreet.arrays import Floats


def split_r_hat(values: Floats) -> Floats:
    """Return sqrt(((N - 1) / N W + B / N) / W) for each quantity, W within and B / N between half chains of length N.

    >>> split_r_hat(np.zeros((4, 100, 1)))
    array([1.])
    """
    half = values.shape[1] // 2
    parts = np.concatenate([values[:, :half], values[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((half - 1) / half + between / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def effective_size(values: Floats) -> Floats:
    """Return how many independent draws are worth as much, for the mean of each quantity.

    Lag t has correlation 1 - (W - mean autocovariance at t) / V, where V = (N - 1) / N W + B / N also holds what the
    chains do not agree about. A quantity that never changes is known as well as by independent draws.
    """
    chains, length, _ = values.shape
    covariances = _autocovariances(values).mean(axis=0)
    within = covariances[0] * length / (length - 1)
    spread = covariances[0] + (values.mean(axis=1).var(axis=0, ddof=1) if chains > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = 1 - (within - covariances) / spread
    pairs = correlations[: length - length % 2].reshape(-1, 2, values.shape[2]).sum(axis=1)
    positive = np.cumprod(pairs > 0, axis=0).astype(bool)
    falling = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = np.maximum(2 * falling.sum(axis=0) - 1, 1 / np.log10(chains * length))
    return np.asarray(np.where(spread > 0, chains * length / time, chains * length))


def _autocovariances(values: Floats) -> Floats:
    """Return the autocovariances at lags 0, 1, ... of each chain and quantity, by Fourier transform."""
    length = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    transformed = np.fft.rfft(centred, n=2 * length, axis=1)
    return np.asarray(np.fft.irfft(np.abs(transformed) ** 2, axis=1)[:, :length] / length)
