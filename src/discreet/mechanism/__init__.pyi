from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.exact import Exact, exact, positive, probability, whole
from discreet.mechanism._additive import MOST_EPSILON as MOST_EPSILON
from discreet.mechanism._additive import MOST_RECORDS as MOST_RECORDS
from discreet.mechanism._additive import Additive, within_bounds
from discreet.mechanism._additive import noise_epsilon as noise_epsilon
from discreet.mechanism._events import Cell
from discreet.mechanism._events import event_name as event_name
from discreet.mechanism._events import places_of as places_of
from discreet.mechanism._events import probability_name as probability_name
from discreet.mechanism._events import some_of as some_of
from discreet.mechanism._evidence import Choice as Choice
from discreet.mechanism._evidence import Draw as Draw
from discreet.mechanism._evidence import Drawer as Drawer
from discreet.mechanism._evidence import DrawnRows as DrawnRows
from discreet.mechanism._evidence import Evidence as Evidence
from discreet.mechanism._evidence import Normalised as Normalised
from discreet.mechanism._evidence import broken_sticks as broken_sticks
from discreet.mechanism._evidence import forced_prior as forced_prior
from discreet.mechanism._grid import FARTHEST as FARTHEST
from discreet.mechanism._grid import MOST_GRID_BITS as MOST_GRID_BITS
from discreet.mechanism._grid import NEGLIGIBLE_BEYOND as NEGLIGIBLE_BEYOND
from discreet.mechanism._grid import GridDistribution as GridDistribution
from discreet.mechanism._grid import LazyUniform as LazyUniform
from discreet.mechanism._grid import beyond as beyond
from discreet.mechanism._grid import coarser as coarser
from discreet.mechanism._grid import grid_points as grid_points
from discreet.mechanism._grid import likely_cells as likely_cells
from discreet.mechanism._grid import stick_distributions as stick_distributions
from discreet.mechanism._grid import truncated_range as truncated_range
from discreet.mechanism._grid import truncated_stick as truncated_stick
from discreet.mechanism._measurement import Cost as Cost
from discreet.mechanism._measurement import Measurement as Measurement
from discreet.mechanism._measurement import Part as Part
from discreet.mechanism._measurement import Quantities
from discreet.mechanism._measurement import unit_moves as unit_moves
from discreet.mechanism._mechanism import Mechanism, Sized, sized, with_fields
from discreet.mechanism._mechanism import OutputSpace as OutputSpace
from discreet.mechanism._mechanism import accepted as accepted
from discreet.mechanism._mechanism import require_mechanism as require_mechanism
from discreet.mechanism._mechanism import require_prior as require_prior
from discreet.mechanism._mechanism import simulated_size as simulated_size
from discreet.mechanism._metric import MetricMechanism as MetricMechanism
from discreet.mechanism._model import HasConditionals as HasConditionals
from discreet.mechanism._model import HasEventChances as HasEventChances
from discreet.mechanism._model import HasExpectations as HasExpectations
from discreet.mechanism._model import HasMainRows as HasMainRows
from discreet.mechanism._model import HasMissingValue as HasMissingValue
from discreet.mechanism._model import HasOwnRows as HasOwnRows
from discreet.mechanism._model import HasParameters as HasParameters
from discreet.mechanism._model import HasProgram as HasProgram
from discreet.mechanism._model import HasRowScales as HasRowScales
from discreet.mechanism._model import HasStrengths as HasStrengths
from discreet.mechanism._model import MetricLike as MetricLike
from discreet.mechanism._model import Model, Parameters, Simulated
from discreet.mechanism._model import ModelT as ModelT
from discreet.mechanism._model import ReadAs as ReadAs
from discreet.mechanism._model import StrengthensPrior as StrengthensPrior
from discreet.mechanism._model import TakesOwnRecords as TakesOwnRecords
from discreet.mechanism._model import TakesPrior as TakesPrior
from discreet.mechanism._model import all_or_some as all_or_some
from discreet.mechanism._model import columns_of_levels as columns_of_levels
from discreet.mechanism._model import columns_of_numbers as columns_of_numbers
from discreet.mechanism._model import conditionals_of as conditionals_of
from discreet.mechanism._model import decided_by as decided_by
from discreet.mechanism._model import is_prior_open as is_prior_open
from discreet.mechanism._model import neighbouring_tables as neighbouring_tables
from discreet.mechanism._model import one_for_each as one_for_each
from discreet.mechanism._model import tables_of as tables_of
from discreet.mechanism._neighbours import both_promises as both_promises
from discreet.mechanism._neighbours import replacement_epsilon as replacement_epsilon
from discreet.mechanism._own_records import Informed as Informed
from discreet.mechanism._own_records import are_counts as are_counts
from discreet.mechanism._own_records import own_counts as own_counts
from discreet.mechanism._own_records import refuse_statistics as refuse_statistics
from discreet.mechanism._proof_assumption import HasProofAssumption as HasProofAssumption
from discreet.mechanism._proof_assumption import ProofAssumption as ProofAssumption
from discreet.mechanism._proof_assumption import Trial as Trial
from discreet.mechanism._proof_assumption import TrialPart as TrialPart
from discreet.mechanism._sequence import Plan
from discreet.mechanism._study_keys import Asked as Asked
from discreet.mechanism._study_keys import Declared as Declared
from discreet.mechanism._study_keys import DeclaredPrior as DeclaredPrior
from discreet.mechanism._study_keys import Key as Key
from discreet.mechanism._study_keys import Numbers as Numbers
from discreet.mechanism._study_keys import of_columns as of_columns
from discreet.mechanism._study_keys import of_levels as of_levels
from discreet.mechanism._study_keys import of_numbers as of_numbers
from discreet.mechanism._study_keys import one_of as one_of
from discreet.mechanism._study_keys import written_name as written_name

__all__ = [
    "Additive",
    "Cell",
    "Counts",
    "Exact",
    "Floats",
    "Mechanism",
    "Model",
    "NumbersT",
    "Parameters",
    "Plan",
    "Quantities",
    "Simulated",
    "Sized",
    "exact",
    "positive",
    "probability",
    "sized",
    "whole",
    "with_fields",
    "within_bounds",
]
