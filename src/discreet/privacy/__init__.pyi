from discreet.privacy._calibration import DIGITS as DIGITS
from discreet.privacy._calibration import continuous_variance as continuous_variance
from discreet.privacy._calibration import crossing as crossing
from discreet.privacy._calibration import last_fitting as last_fitting
from discreet.privacy._calibration import last_that_fits as last_that_fits
from discreet.privacy._calibration import raised_to_fit as raised_to_fit
from discreet.privacy._calibration import scale_rounded_down as scale_rounded_down
from discreet.privacy._column_metrics import Line as Line
from discreet.privacy._column_metrics import Steps as Steps
from discreet.privacy._column_metrics import Tree as Tree
from discreet.privacy._composition import Totals, across_groups, compose
from discreet.privacy._enumeration import (
    DataSets,
    Enumeration,
    compare,
    compositions,
    enumerate_neighbours,
    neighbouring,
)
from discreet.privacy._enumeration import Pair as Pair
from discreet.privacy._enumeration import all_tables as all_tables
from discreet.privacy._enumeration import number_of_pairs as number_of_pairs
from discreet.privacy._enumeration import number_of_tables as number_of_tables
from discreet.privacy._enumeration import window as window
from discreet.privacy._enumeration import with_one_more as with_one_more
from discreet.privacy._gaussian_curve import curve_gives as curve_gives
from discreet.privacy._gaussian_curve import curve_loss as curve_loss
from discreet.privacy._gaussian_curve import curve_variance as curve_variance
from discreet.privacy._gaussian_loss import LARGEST_VARIANCE as LARGEST_VARIANCE
from discreet.privacy._gaussian_loss import calibrated_variance as calibrated_variance
from discreet.privacy._gaussian_loss import gaussian_loss as gaussian_loss
from discreet.privacy._gaussian_loss import log_sum_of_gaussians as log_sum_of_gaussians
from discreet.privacy._group_metrics import GroupLines as GroupLines
from discreet.privacy._group_metrics import GroupSteps as GroupSteps
from discreet.privacy._groups import charged_for as charged_for
from discreet.privacy._groups import check_group as check_group
from discreet.privacy._groups import neighbours_of as neighbours_of
from discreet.privacy._guarantee import EVERYONE as EVERYONE
from discreet.privacy._guarantee import (
    ONE_RECORD,
    Accountant,
    Adjacency,
    Amount,
    Budget,
    Concentrated,
    Evidence,
    Guarantee,
    Unit,
    read_amount,
    zcdp_cost,
)
from discreet.privacy._guarantee import PERSON as PERSON
from discreet.privacy._guarantee import RECORD as RECORD
from discreet.privacy._guarantee import cost_of as cost_of
from discreet.privacy._guarantee import left_text as left_text
from discreet.privacy._guarantee import limit_of as limit_of
from discreet.privacy._guarantee import nothing as nothing
from discreet.privacy._guarantee import rho_delta as rho_delta
from discreet.privacy._guarantee import spent_text as spent_text
from discreet.privacy._guarantee import together as together
from discreet.privacy._loss import Atoms as Atoms
from discreet.privacy._loss import PrivacyLoss
from discreet.privacy._loss import added as added
from discreet.privacy._loss import atoms_of as atoms_of
from discreet.privacy._loss import envelope as envelope
from discreet.privacy._loss import stated as stated
from discreet.privacy._loss import upper_float as upper_float
from discreet.privacy._metric import Metric as Metric
from discreet.privacy._metric import Sum as Sum
from discreet.privacy._metric import read_metric as read_metric
from discreet.privacy._metric_guarantee import MetricGuarantee as MetricGuarantee
from discreet.privacy._per_unit import DIGEST_DIGITS as DIGEST_DIGITS
from discreet.privacy._per_unit import PerUnit as PerUnit
from discreet.privacy._zcdp import SLACK as SLACK
from discreet.privacy._zcdp import concentrated_loss as concentrated_loss
from discreet.privacy._zcdp import pure_rho as pure_rho
from discreet.privacy._zcdp import reached_delta as reached_delta
from discreet.privacy._zcdp import zcdp_epsilon, zcdp_limit

__all__ = [
    "ONE_RECORD",
    "Accountant",
    "Adjacency",
    "Amount",
    "Budget",
    "Concentrated",
    "DataSets",
    "Enumeration",
    "Evidence",
    "Guarantee",
    "PrivacyLoss",
    "Totals",
    "Unit",
    "across_groups",
    "compare",
    "compose",
    "compositions",
    "enumerate_neighbours",
    "neighbouring",
    "read_amount",
    "zcdp_cost",
    "zcdp_epsilon",
    "zcdp_limit",
]
