"""nutpie: programs as its own models, without PyMC and without a compiler. `infer` falls back to this sampler."""

from typing import Any

from discreet._core.errors import DeclarationError
from discreet.programs._hamiltonian import compiled, sample_by_chains
from discreet.programs._posterior import ModelPosterior


def nutpie_model(posterior: ModelPosterior) -> Any:
    """Return the posterior density as a model of nutpie, for `nutpie.sample`; its one variable is `theta`."""
    return compiled(_checked(posterior).solution.target)


def by_chains(posterior: ModelPosterior, draws: int = 1_000, tune: int = 500, seed: int = 0) -> ModelPosterior:
    """Return the same posterior, read again by four chains."""
    solution = _checked(posterior).solution
    again = sample_by_chains(solution.model, solution.target, solution.how, seed, draws, tune)
    return ModelPosterior(posterior.model, posterior.releases, [again])


def _checked(posterior: ModelPosterior) -> ModelPosterior:
    if not isinstance(posterior, ModelPosterior):
        raise DeclarationError(
            f"This takes a posterior that infer read with a program (model=...); got a {type(posterior).__name__}."
        )
    return posterior
