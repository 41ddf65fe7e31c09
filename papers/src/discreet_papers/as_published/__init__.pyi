from discreet.tables import plug_in
from discreet_papers.as_published.fourier_updates import FourierUpdates
from discreet_papers.as_published.hellinger_local import HellingerLocal
from discreet_papers.as_published.hellinger_scales import PublishedHellingerGlobal, PublishedHellingerSmooth
from discreet_papers.as_published.hellinger_table import HellingerTable
from discreet_papers.as_published.laplace_updates import LaplaceUpdates
from discreet_papers.as_published.projection import PlugInNetwork, projected_reading, truncated_reading
from discreet_papers.as_published.published_laplace import (
    ClampedLaplace,
    FlooredLaplace,
    RoundedLaplace,
    TruncatedLaplace,
)
from discreet_papers.as_published.regression_points import adaptive_ridge, plug_in_regression

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
