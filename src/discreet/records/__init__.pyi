from discreet.records._bands import CATCH_ALL as CATCH_ALL
from discreet.records._bands import day_text as day_text
from discreet.records._bounds import MIDDLE as MIDDLE
from discreet.records._bounds import Bounds as Bounds
from discreet.records._bounds import all_missing_in_words as all_missing_in_words
from discreet.records._bounds import bounds_of as bounds_of
from discreet.records._bounds import measure_of as measure_of
from discreet.records._bounds import missing_value_in_words as missing_value_in_words
from discreet.records._columns import Column, Level
from discreet.records._columns import is_text as is_text
from discreet.records._columns import level_text as level_text
from discreet.records._derived import Derivation as Derivation
from discreet.records._derived import Derived
from discreet.records._files import read
from discreet.records._frames import columns_of_frame as columns_of_frame
from discreet.records._grouped_sums import UNIT as UNIT
from discreet.records._grouped_sums import GroupPlan as GroupPlan
from discreet.records._grouped_sums import count_places as count_places
from discreet.records._grouped_sums import squared as squared
from discreet.records._grouped_sums import sum_groups as sum_groups
from discreet.records._lists import ListSource
from discreet.records._lists import is_stable as is_stable
from discreet.records._lists import length_of as length_of
from discreet.records._matches import MISSING as MISSING
from discreet.records._matches import ColumnMatch as ColumnMatch
from discreet.records._moments import CONSTANT as CONSTANT
from discreet.records._moments import Factor as Factor
from discreet.records._moments import Indicator as Indicator
from discreet.records._moments import Measure as Measure
from discreet.records._moments import MomentPlan as MomentPlan
from discreet.records._moments import Term as Term
from discreet.records._moments import Wholes as Wholes
from discreet.records._moments import bases_of as bases_of
from discreet.records._moments import whole_column as whole_column
from discreet.records._person_source import MEAN as MEAN
from discreet.records._person_source import ROWS as ROWS
from discreet.records._person_source import RULES as RULES
from discreet.records._person_source import TOTAL as TOTAL
from discreet.records._person_source import PersonSource as PersonSource
from discreet.records._persons import IdPlan as IdPlan
from discreet.records._persons import ids_in as ids_in
from discreet.records._servers import connect as connect
from discreet.records._source import Source, as_source
from discreet.records._source import other_separator as other_separator
from discreet.records._source import whole_rows as whole_rows
from discreet.records._statistics import Statistics
from discreet.records._values import FIRST_DAY as FIRST_DAY
from discreet.records._values import LARGEST_WHOLE, NUMBER, text_of
from discreet.records._values import LAST_DAY as LAST_DAY
from discreet.records._values import day_of as day_of
from discreet.records._values import number_of as number_of
from discreet.records._weights import SUMS as SUMS
from discreet.records._weights import WeightPlan as WeightPlan
from discreet.records._weights import divided as divided
from discreet.records._weights import parts_of as parts_of
from discreet.records._weights import sum_rows as sum_rows
from discreet.records._weights import sum_weights as sum_weights
from discreet.records._where import Where
from discreet.records._where import condition_text as condition_text
from discreet.records._where import conditions_on as conditions_on

__all__ = [
    "LARGEST_WHOLE",
    "NUMBER",
    "Column",
    "Derived",
    "Level",
    "ListSource",
    "Source",
    "Statistics",
    "Where",
    "as_source",
    "read",
    "text_of",
]
