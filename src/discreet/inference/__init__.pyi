from discreet.inference._chain_starts import Start as Start
from discreet.inference._chain_starts import around_draws as around_draws
from discreet.inference._cliques import MOST_CELLS as MOST_CELLS
from discreet.inference._cliques import Parents as Parents
from discreet.inference._cliques import clique_cells as clique_cells
from discreet.inference._cliques import cliques as cliques
from discreet.inference._comparisons import Comparison as Comparison
from discreet.inference._comparisons import PosteriorProbability as PosteriorProbability
from discreet.inference._comparisons import QuantityKey as QuantityKey
from discreet.inference._comparisons import Statement as Statement
from discreet.inference._comparisons import number_keys as number_keys
from discreet.inference._comparisons import require_one_comparison as require_one_comparison
from discreet.inference._contradictions import require_agreement as require_agreement
from discreet.inference._contradictions import require_total as require_total
from discreet.inference._count_chains import CountChains as CountChains
from discreet.inference._criticism import Check as Check
from discreet.inference._criticism import Criticism as Criticism
from discreet.inference._drawn import LINEAR as LINEAR
from discreet.inference._drawn import DrawnCells as DrawnCells
from discreet.inference._drawn import RowKernel as RowKernel
from discreet.inference._drawn import coarse as coarse
from discreet.inference._drawn import until_settled as until_settled
from discreet.inference._events import EventPosterior as EventPosterior
from discreet.inference._events import column_named as column_named
from discreet.inference._fits import choice_of as choice_of
from discreet.inference._fits import fit_of as fit_of
from discreet.inference._fits import margins_of as margins_of
from discreet.inference._fits import near_sums as near_sums
from discreet.inference._fits import operations_of as operations_of
from discreet.inference._fits import rough as rough
from discreet.inference._fits import too_many as too_many
from discreet.inference._fits import unreadable as unreadable
from discreet.inference._grouped_counts import GroupedCounts as GroupedCounts
from discreet.inference._grouped_counts import JointCounts as JointCounts
from discreet.inference._infer import infer
from discreet.inference._infer import infer_many as infer_many
from discreet.inference._known_sum import MANY as MANY
from discreet.inference._known_sum import MOST_WAVES as MOST_WAVES
from discreet.inference._known_sum import Beside as Beside
from discreet.inference._known_sum import KnownSum as KnownSum
from discreet.inference._known_sum import TotalDistribution as TotalDistribution
from discreet.inference._known_sum import drawn_steps as drawn_steps
from discreet.inference._latent_counts import LOST as LOST
from discreet.inference._latent_counts import SPARE as SPARE
from discreet.inference._latent_counts import CellWeights as CellWeights
from discreet.inference._latent_counts import LatentCounts as LatentCounts
from discreet.inference._latent_counts import alike as alike
from discreet.inference._normal_coordinates import Coordinates as Coordinates
from discreet.inference._normal_coordinates import JointTable as JointTable
from discreet.inference._number_prior import SecretNumber as SecretNumber
from discreet.inference._pair_counts import pair_rows as pair_rows
from discreet.inference._pictures import Distribution as Distribution
from discreet.inference._pictures import Graph as Graph
from discreet.inference._pictures import IntervalLine as IntervalLine
from discreet.inference._pictures import Intervals as Intervals
from discreet.inference._pictures import TableEntry as TableEntry
from discreet.inference._pictures import intervals_of as intervals_of
from discreet.inference._posterior import Posterior
from discreet.inference._posterior import little_information as little_information
from discreet.inference._posterior import require_posterior as require_posterior
from discreet.inference._posterior_sample import Group as Group
from discreet.inference._posterior_sample import PosteriorSample as PosteriorSample
from discreet.inference._prior_strengths import solve_with_strengths as solve_with_strengths
from discreet.inference._problem import (
    MOST_NUMBERS,
    MOST_OPERATIONS,
    CostEstimate,
    Exactness,
    Problem,
    Solver,
    exactness_of,
    rejection_of,
    solve,
    solver_for,
    why_not_exact,
    why_unreadable,
)
from discreet.inference._problem import Feature as Feature
from discreet.inference._problem import Observed as Observed
from discreet.inference._problem import Published as Published
from discreet.inference._problem import SolvesInTurn as SolvesInTurn
from discreet.inference._problem import announcement as announcement
from discreet.inference._problem import in_order as in_order
from discreet.inference._problem import not_read as not_read
from discreet.inference._problem import number_of_records as number_of_records
from discreet.inference._problem import require as require
from discreet.inference._protocols import ANSWERS as ANSWERS
from discreet.inference._protocols import HasCriticism as HasCriticism
from discreet.inference._protocols import HasDistribution as HasDistribution
from discreet.inference._protocols import HasEvents as HasEvents
from discreet.inference._protocols import HasFacts as HasFacts
from discreet.inference._protocols import HasFewerDraws as HasFewerDraws
from discreet.inference._protocols import HasGraph as HasGraph
from discreet.inference._protocols import HasIntervalPicture as HasIntervalPicture
from discreet.inference._protocols import HasPlannedFacts as HasPlannedFacts
from discreet.inference._protocols import HasPlannedFigures as HasPlannedFigures
from discreet.inference._protocols import HasPrediction as HasPrediction
from discreet.inference._protocols import HasSomeRows as HasSomeRows
from discreet.inference._ratios import DRAWS as DRAWS
from discreet.inference._ratios import PairNoise as PairNoise
from discreet.inference._ratios import Quantiles as Quantiles
from discreet.inference._ratios import Ratio as Ratio
from discreet.inference._ratios import pair_noise as pair_noise
from discreet.inference._record_moves import RecordMoves as RecordMoves
from discreet.inference._record_moves import SeenTable as SeenTable
from discreet.inference._record_moves import margins_that_weigh as margins_that_weigh
from discreet.inference._record_moves import number_of_moves as number_of_moves
from discreet.inference._report import ReportText
from discreet.inference._report import bounds_in_words as bounds_in_words
from discreet.inference._report import dirichlet_in_words as dirichlet_in_words
from discreet.inference._report import forced_prior_line as forced_prior_line
from discreet.inference._report import heading as heading
from discreet.inference._report import levels_in_words as levels_in_words
from discreet.inference._report import outside_interval_note as outside_interval_note
from discreet.inference._report import own_records_line as own_records_line
from discreet.inference._report import remarks as remarks
from discreet.inference._report import sources_line as sources_line
from discreet.inference._report import text_table as text_table
from discreet.inference._row import DAYS as DAYS
from discreet.inference._row import NOTHING_KNOWN as NOTHING_KNOWN
from discreet.inference._row import PROBABILITY, Row
from discreet.inference._row import SHOWN_LEVEL as SHOWN_LEVEL
from discreet.inference._row import STAR as STAR
from discreet.inference._row import percent_text as percent_text
from discreet.inference._row import shown_fields as shown_fields
from discreet.inference._row_windows import TOO_FAR as TOO_FAR
from discreet.inference._row_windows import LogBound as LogBound
from discreet.inference._row_windows import RowWindows as RowWindows
from discreet.inference._row_windows import whole_row as whole_row
from discreet.inference._sampled_tables import BLOCK as BLOCK
from discreet.inference._sampled_tables import MOVED as MOVED
from discreet.inference._sampled_tables import ROUNDS as ROUNDS
from discreet.inference._sampled_tables import WARM as WARM
from discreet.inference._sampled_tables import MovesTarget as MovesTarget
from discreet.inference._sampled_tables import SampledTables as SampledTables
from discreet.inference._sampled_tables import TablesTarget as TablesTarget
from discreet.inference._sampled_tables import chains_for as chains_for
from discreet.inference._sampled_tables import longest_for as longest_for
from discreet.inference._sampled_tables import sweeps_for as sweeps_for
from discreet.inference._secret_number import CONTRADICTED as CONTRADICTED
from discreet.inference._secret_number import NO_END as NO_END
from discreet.inference._secret_number import CountsOfSecretNumber as CountsOfSecretNumber
from discreet.inference._secret_number import LogNumber as LogNumber
from discreet.inference._secret_number import number_facts as number_facts
from discreet.inference._secret_number import number_in_words as number_in_words
from discreet.inference._table_counts import Split as Split
from discreet.inference._table_counts import TableCounts as TableCounts
from discreet.inference._tempered_evidence import tempered_evidence as tempered_evidence
from discreet.inference._tempering import EACH as EACH
from discreet.inference._tempering import ISLANDS as ISLANDS
from discreet.inference._tempering import Particles as Particles
from discreet.inference._weighted_tables import WeightedTables as WeightedTables
from discreet.inference._weighted_tables import most_tables as most_tables
from discreet.inference._windows import CellWindows as CellWindows
from discreet.inference._windows import NoisyRow as NoisyRow
from discreet.inference._windows import Windowed as Windowed

__all__ = [
    "MOST_NUMBERS",
    "MOST_OPERATIONS",
    "PROBABILITY",
    "CostEstimate",
    "Exactness",
    "Posterior",
    "Problem",
    "ReportText",
    "Row",
    "Solver",
    "exactness_of",
    "infer",
    "rejection_of",
    "solve",
    "solver_for",
    "why_not_exact",
    "why_unreadable",
]
