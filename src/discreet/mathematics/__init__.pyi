from discreet.mathematics._densities import BY_DRAWS as BY_DRAWS
from discreet.mathematics._densities import ON_A_GRID as ON_A_GRID
from discreet.mathematics._densities import LogDensity as LogDensity
from discreet.mathematics._densities import WeightedPoints as WeightedPoints
from discreet.mathematics._densities import by_draws as by_draws
from discreet.mathematics._densities import on_a_grid as on_a_grid
from discreet.mathematics._densities import peak_of as peak_of
from discreet.mathematics._digits import STIRLING as STIRLING
from discreet.mathematics._digits import log_gamma_ratio as log_gamma_ratio
from discreet.mathematics._dirichlet_multinomial import log_prior as log_prior
from discreet.mathematics._dirichlet_multinomial import log_prior_constant as log_prior_constant
from discreet.mathematics._dirichlet_multinomial import log_prior_windows as log_prior_windows
from discreet.mathematics._divergences import hellinger_rows
from discreet.mathematics._divergences import kullback_leibler as kullback_leibler
from discreet.mathematics._divergences import log_affinities as log_affinities
from discreet.mathematics._divergences import log_r as log_r
from discreet.mathematics._grouped_draws import Grouped as Grouped
from discreet.mathematics._grouped_draws import systematic as systematic
from discreet.mathematics._nested_rhat import Agreement as Agreement
from discreet.mathematics._nested_rhat import agreement as agreement
from discreet.mathematics._nested_rhat import in_order_of_starts as in_order_of_starts
from discreet.mathematics._pareto import MOST_SHAPE as MOST_SHAPE
from discreet.mathematics._pareto import Smoothed as Smoothed
from discreet.mathematics._pareto import smoothed as smoothed
from discreet.mathematics._ridges import along as along
from discreet.mathematics._roots import root as root
from discreet.mathematics._tilting import TiltedStack as TiltedStack
from discreet.mathematics._tilting import stack_tilted_to as stack_tilted_to
from discreet.mathematics._tilting import tilted_to as tilted_to
from discreet.mathematics._tilting import weights_tilted_to as weights_tilted_to

__all__ = ["hellinger_rows"]
