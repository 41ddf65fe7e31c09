from discreet.choices._hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth, HellingerSmoothProved
from discreet.choices._hellinger_calibrated import HellingerCalibrated
from discreet.choices._hellinger_mechanism import HellingerMechanism
from discreet.choices._maximum_posterior import MaximumPosterior
from discreet.choices._network_maximum import NetworkMaximum
from discreet.choices._permute_and_flip import PermuteAndFlip
from discreet.choices._total_variation import TotalVariationChoice

__all__ = [
    "HellingerCalibrated",
    "HellingerGlobal",
    "HellingerMechanism",
    "HellingerReciprocal",
    "HellingerSmooth",
    "HellingerSmoothProved",
    "MaximumPosterior",
    "NetworkMaximum",
    "PermuteAndFlip",
    "TotalVariationChoice",
]
