"""A mechanism need not have a public number of records; what needs one says so."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import discreet as dc
from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import why_unreadable
from discreet.mechanism import Evidence, Mechanism, OutputSpace, Sized, sized
from discreet.noise.randomness._samplers import RandomBits
from discreet.privacy import Guarantee, PrivacyLoss
from discreet.tables._plug_in import plain_counts
from discreet.verification import verify

COIN = dc.Categories("x", levels=("a", "b"), outside="a", prior=1)


@dataclass(frozen=True, repr=False)
class SecretNumber(Mechanism[dc.Categories]):
    """Noisy counts of a secret number of records; noise and loss are those of another mechanism."""

    model: dc.Categories
    _known: dc.GeometricHistogram

    @property
    def guarantee(self) -> Guarantee:
        return self._known.guarantee

    def privacy_loss(self) -> PrivacyLoss:
        return self._known.privacy_loss()

    @property
    def rho(self) -> Fraction:
        return self._known.rho

    @property
    def space(self) -> OutputSpace:
        return self._known.space

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        return self._known.sample(counts, bits)

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        return self._known.log_prob(output, counts)

    def evidence(self, output: Counts) -> Evidence:
        return self._known.evidence(output)

    def measured(self, counts: Counts) -> Counts:
        return self._known.measured(counts)


def test_without_a_public_size_noise_that_keeps_the_total_is_found_out_and_nothing_is_read() -> None:
    """Its noise adds up to zero, so whoever is added or removed shows: the promise is that of another mechanism."""
    mechanism = SecretNumber(COIN, dc.GeometricHistogram(COIN, 5, 1))
    assert not hasattr(mechanism, "size")
    with pytest.raises(dc.VerificationError, match="adding one record of inf"):
        verify(mechanism)
    assert "publishes the exact number of records" in str(why_unreadable(mechanism))
    with pytest.raises(DeclarationError, match="exact number of records"):
        dc.infer(dc.Release(mechanism, (2, 3), "secret", simulated=True))


def test_every_registered_mechanism_but_those_of_a_secret_number_has_a_public_size() -> None:
    secret = {name for name, made in Mechanism.registered().items() if not issubclass(made, Sized)}
    named = {
        "BlockTable",
        "CubeSums",
        "CubeTables",
        "GaussianPairTables",
        "GaussianTable",
        "LaplaceSums",
        "LaplaceTable",
    }
    assert secret == named
    mechanism = dc.GeometricHistogram(COIN, 5, 1)
    assert sized(mechanism) is mechanism
    assert np.all(plain_counts(mechanism, np.array([[-1, 4]])) == [[0, 5]])
