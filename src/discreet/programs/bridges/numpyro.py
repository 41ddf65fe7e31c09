"""NumPyro and JAX: the likelihood of a release in pure JAX, with 64 bits.

Widths and lengths are fixed when the function is made, so that it can be compiled. The residual of the forward pass is
E[k | release, p], so that value and gradient take one pass.
"""

from collections.abc import Callable
from math import log
from typing import Any

import jax  # type: ignore[import-not-found, unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found, unused-ignore]
import numpy as np
from scipy.fft import next_fast_len

from discreet._core.errors import DeclarationError
from discreet.programs._likelihood import Likelihood
from discreet.programs._product_likelihood import ProductLikelihood
from discreet.programs._secret_number import SecretNumberLikelihood

_STEPS = 8  # steps of Newton's method for the tilt
_WIDER = 1.5  # than the spread of the sum at the noisy table


def jax_likelihood(likelihood: Likelihood) -> Callable[[Any], Any]:
    """Return log P(release | p) as a function of one row of log p, which JAX differentiates and compiles."""
    if not jax.config.jax_enable_x64:
        raise DeclarationError(
            "A likelihood needs 64 bits: call jax.config.update('jax_enable_x64', True) before anything else. Nothing "
            "was created."
        )
    inner = likelihood.product
    if inner is None:
        raise DeclarationError(
            f"The JAX bridge works for likelihoods that factor over cells; for this one {likelihood.method}. Nothing "
            "was created."
        )
    both = _both(inner)

    if isinstance(inner, SecretNumberLikelihood):
        raise DeclarationError(
            "The JAX bridge works for a public number of records; here it is secret. Use discreet.infer, or the "
            "bridges to PyMC and nutpie. Nothing was created."
        )

    @jax.custom_vjp  # type: ignore[untyped-decorator, unused-ignore]
    def value(log_probabilities: Any) -> Any:
        return both(log_probabilities)[0]

    value.defvjp(both, lambda expected, given: (given * expected,))
    found: Callable[[Any], Any] = value
    return found


def _both(inner: ProductLikelihood) -> Callable[[Any], Any]:
    """Return value and expected counts, for one row."""
    cells, width = inner.base.shape
    noisy = np.clip(inner.first + np.argmax(inner.base, axis=1), 0.5, None)
    distribution = inner.known(np.log(noisy / noisy.sum())[None])[0].tilted
    spread = _WIDER * float(np.sqrt(distribution.variance[0]))
    length = int(next_fast_len(min(cells * (width - 1) + 1, int(width + 24 * spread) + 1), real=True)) | 1
    first, base, steps = jnp.asarray(inner.first), jnp.asarray(inner.base), jnp.arange(width)
    rest, start = inner.size - int(inner.first.sum()), log(inner.size)
    turns = 2 * np.pi / length * (np.arange(length // 2 + 1) * rest % length)
    turned = jnp.asarray(np.exp(1j * turns) * np.where(np.arange(len(turns)) == 0, 1.0, 2.0))

    def both(log_probabilities: Any) -> Any:
        logs = base + (log_probabilities + start)[:, None] * steps

        def newton(_: Any, tilt: Any) -> Any:
            weights = jax.nn.softmax(logs + tilt * steps, axis=1)
            means = weights @ steps
            variance = (weights @ steps**2 - means**2).sum()
            return tilt + jnp.clip((rest - means.sum()) / jnp.maximum(variance, 1e-12), -1.0, 1.0)

        tilt = jax.lax.fori_loop(0, _STEPS, newton, jnp.zeros(()))
        tilted = logs + tilt * steps
        sums = jax.nn.logsumexp(tilted, axis=1)
        weights = jnp.exp(tilted - sums[:, None])
        means = weights @ steps
        spectra = jnp.fft.rfft(weights, length, axis=1)
        product = spectra.prod(axis=0) * turned
        scale = product.real.sum()
        moved = jnp.fft.rfft(weights * (steps - means[:, None]), length, axis=1)
        expected = first + means + (product * moved / spectra).real.sum(axis=1) / scale
        value = (
            inner.constant + jnp.log(scale / length) + sums.sum() - (tilt + start) * rest + first @ log_probabilities
        )
        good = jnp.isfinite(value)
        return jnp.where(good, value, -jnp.inf), jnp.where(good, expected, 0.0)

    return both
