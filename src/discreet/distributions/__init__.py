"""Distributions of what a reader wants to know. Each gives an `interval`, under the same name everywhere."""

from discreet.distributions.beta import BetaMixture
from discreet.distributions.counts import CountDistribution
from discreet.distributions.dirichlet import Dirichlet
from discreet.distributions.interval import Interval
from discreet.distributions.odds import Odds
from discreet.distributions.sampled import Sampled

__all__ = ["BetaMixture", "CountDistribution", "Dirichlet", "Interval", "Odds", "Sampled"]
