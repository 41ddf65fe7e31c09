"""Bridges to nutpie, PyMC and NumPyro: they agree with the likelihood at 20 points, and each runs for a moment."""

from typing import Any

import numpy as np
import pytest

import discreet as dc

VISITS = dc.Column("visits", tuple(range(7)), outside=6)


def released() -> dc.Release:
    mechanism = dc.GeometricHistogram(dc.Categories(VISITS), 200, 2)
    return dc.simulate(mechanism, [50, 68, 47, 22, 9, 3, 1], dc.SeededBits(1), "visits")


def points() -> Any:
    return np.log(np.random.default_rng(3).dirichlet(np.full(7, 2.0), size=20))


def test_nutpie_reads_what_the_grid_reads() -> None:
    pytest.importorskip("nutpie", reason="the optional sampler is not installed: discreet[nutpie]")
    from discreet.programs.bridges.nutpie import by_chains

    posterior: Any = dc.infer(released(), model=dc.programs.Poisson(rate="Gamma(4, 3)"))
    chains = by_chains(posterior, draws=300, tune=200)
    assert chains.mean["rate"] == pytest.approx(posterior.mean["rate"], abs=0.5 * posterior.sd["rate"])
    assert chains.solution.chains == 4
    assert "chains" in chains.method


def test_pymc_has_the_value_and_the_gradient_of_the_likelihood() -> None:
    pymc = pytest.importorskip("pymc", reason="the optional bridge is not installed: discreet[pymc]")
    from discreet.programs.bridges.pymc import release_potential

    likelihood = released().likelihood
    with pymc.Model() as model:
        place = pymc.Flat("place", shape=7)
        release_potential("release", likelihood, pymc.math.log_softmax(place))
    log_density, slope = model.compile_logp(), model.compile_dlogp()
    for row in points():
        value, expected = likelihood(row)
        assert float(log_density({"place": row})) == pytest.approx(float(value), abs=1e-9)
        assert slope({"place": row}) == pytest.approx(expected - 200 * np.exp(row), abs=1e-7)


def test_jax_has_the_value_and_the_gradient_of_the_likelihood() -> None:
    jax = pytest.importorskip("jax", reason="the optional bridge is not installed: discreet[numpyro]")
    from discreet.programs.bridges.numpyro import jax_likelihood

    likelihood = released().likelihood
    with pytest.raises(dc.DeclarationError, match="64 bits"):
        jax_likelihood(likelihood)
    jax.config.update("jax_enable_x64", True)
    try:
        told = jax.jit(jax.value_and_grad(jax_likelihood(likelihood)))
        for row in points():
            value, expected = likelihood(row)
            found, slope = told(row)
            assert float(found) == pytest.approx(float(value), abs=1e-9)
            assert np.asarray(slope) == pytest.approx(expected, abs=1e-8)
    finally:
        jax.config.update("jax_enable_x64", False)
