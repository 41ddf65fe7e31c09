from discreet.draws._ball_draw import BallDraw, loss_range, published_bound
from discreet.draws._lipschitz import bernoulli_rate, categories_lipschitz
from discreet.draws._loss import gamma_poisson_delta, gaussian_delta, posterior_draw_delta
from discreet.draws._network_sampling import NetworkSampling
from discreet.draws._posterior_sampling import PosteriorSampling
from discreet.draws._privacy_curves import certified_pair_delta, largest_divergence
from discreet.draws._rate_truncation import RateTruncation

__all__ = [
    "BallDraw",
    "NetworkSampling",
    "PosteriorSampling",
    "RateTruncation",
    "bernoulli_rate",
    "categories_lipschitz",
    "certified_pair_delta",
    "gamma_poisson_delta",
    "gaussian_delta",
    "largest_divergence",
    "loss_range",
    "posterior_draw_delta",
    "published_bound",
]
