"""Mechanisms and readings as the papers published them, for study and comparison rather than for releases.

They are the papers' own variants of mechanisms (rounded or truncated Laplace noise, updates that pay for every entry,
exponents that no proof covers), and readings that take noisy numbers at face value. `discreet.suggest` never chooses
any of them. Those with a proved guarantee may be published, and are read like everything else; the two Hellinger
mechanisms whose guarantee is only claimed are refused.
"""

from discreet.as_published.fourier_updates import FourierUpdates
from discreet.as_published.hellinger_local import HellingerLocal
from discreet.as_published.hellinger_scales import PublishedHellingerGlobal, PublishedHellingerSmooth
from discreet.as_published.hellinger_table import HellingerTable
from discreet.as_published.laplace_updates import LaplaceUpdates
from discreet.as_published.projection import PlugInNetwork, projected_reading, truncated_reading
from discreet.as_published.published_laplace import ClampedLaplace, FlooredLaplace, RoundedLaplace, TruncatedLaplace
from discreet.as_published.regression_points import adaptive_ridge, plug_in_regression
from discreet.inference.plug_in import plug_in

__all__ = [
    "ClampedLaplace",
    "FlooredLaplace",
    "FourierUpdates",
    "HellingerLocal",
    "HellingerTable",
    "LaplaceUpdates",
    "PlugInNetwork",
    "PublishedHellingerGlobal",
    "PublishedHellingerSmooth",
    "RoundedLaplace",
    "TruncatedLaplace",
    "adaptive_ridge",
    "plug_in",
    "plug_in_regression",
    "projected_reading",
    "truncated_reading",
]
