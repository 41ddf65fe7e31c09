"""Distributions of the quantities that a reader asks about. Each has an `interval`, under the same name everywhere."""

from discreet.mathematics.distributions.counts import CountDistribution
from discreet.mathematics.distributions.dirichlet import BetaMixture, Dirichlet, Interval, Share
from discreet.mathematics.distributions.odds import Odds
from discreet.mathematics.distributions.sampled import Sampled

__all__ = ["BetaMixture", "CountDistribution", "Dirichlet", "Interval", "Odds", "Sampled", "Share"]
