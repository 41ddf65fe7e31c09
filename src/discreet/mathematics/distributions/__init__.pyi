from discreet.mathematics.distributions._beta_tables import BetaTable as BetaTable
from discreet.mathematics.distributions._beta_tables import RestNodes as RestNodes
from discreet.mathematics.distributions._certified import CertifiedBeta as CertifiedBeta
from discreet.mathematics.distributions._certified import CertifiedDistribution as CertifiedDistribution
from discreet.mathematics.distributions._certified import CertifiedGamma as CertifiedGamma
from discreet.mathematics.distributions._certified import CertifiedNormal as CertifiedNormal
from discreet.mathematics.distributions._certified import beta_log_mass as beta_log_mass
from discreet.mathematics.distributions._certified import gamma_log_mass as gamma_log_mass
from discreet.mathematics.distributions._certified import normal_log_mass as normal_log_mass
from discreet.mathematics.distributions._counts import CountDistribution
from discreet.mathematics.distributions._dirichlet import ROUNDED as ROUNDED
from discreet.mathematics.distributions._dirichlet import BetaMixture, Dirichlet, Interval, Odds, Share
from discreet.mathematics.distributions._dirichlet import MergedMixture as MergedMixture
from discreet.mathematics.distributions._dirichlet import log_dirichlet_rows as log_dirichlet_rows
from discreet.mathematics.distributions._dirichlet import tails as tails
from discreet.mathematics.distributions._mixture_batch import BetaRows as BetaRows
from discreet.mathematics.distributions._mixture_batch import MixtureBatch as MixtureBatch
from discreet.mathematics.distributions._mixture_batch import Summary as Summary
from discreet.mathematics.distributions._mixture_batch import batch_of as batch_of
from discreet.mathematics.distributions._mixture_batch import end_errors as end_errors
from discreet.mathematics.distributions._mixture_batch import ends_of as ends_of
from discreet.mathematics.distributions._mixture_batch import summaries_of as summaries_of
from discreet.mathematics.distributions._sampled import OpenedMergedMixture as OpenedMergedMixture
from discreet.mathematics.distributions._sampled import OpenedMixture as OpenedMixture
from discreet.mathematics.distributions._sampled import Sampled
from discreet.mathematics.distributions._sampled import SampledDifference as SampledDifference
from discreet.mathematics.distributions._sampled import SampledRatio as SampledRatio
from discreet.mathematics.distributions._sampled import SampledShare as SampledShare
from discreet.mathematics.distributions._sampled import SampledShares as SampledShares
from discreet.mathematics.distributions._sampled import draws_reach_ends as draws_reach_ends
from discreet.mathematics.distributions._truncated_gaussian import TruncatedGaussian as TruncatedGaussian
from discreet.mathematics.distributions._weighted import NormalMixture as NormalMixture
from discreet.mathematics.distributions._weighted import WeightedDraws as WeightedDraws

__all__ = ["BetaMixture", "CountDistribution", "Dirichlet", "Interval", "Odds", "Sampled", "Share"]
