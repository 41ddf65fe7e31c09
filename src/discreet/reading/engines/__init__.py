"""The engines, each of which reads some cases, in the order in which they are asked: the best first."""

from discreet.reading.case import ENGINES
from discreet.reading.engines.binary_trees import BinaryTreesEngine
from discreet.reading.engines.chains import ChainsEngine
from discreet.reading.engines.cube import CubeEngine
from discreet.reading.engines.enumeration import EnumerationEngine
from discreet.reading.engines.families import FamiliesEngine
from discreet.reading.engines.moments import MomentsEngine
from discreet.reading.engines.naive_bayes import NaiveBayesEngine
from discreet.reading.engines.rows import RowsEngine
from discreet.reading.engines.shared_radius import SharedRadiusEngine
from discreet.reading.engines.tables import TablesEngine
from discreet.reading.engines.trees import TreesEngine

ENGINES += [
    TablesEngine(),
    EnumerationEngine(),
    NaiveBayesEngine(),
    CubeEngine(),
    SharedRadiusEngine(),
    BinaryTreesEngine(),
    TreesEngine(),
    ChainsEngine(),
    RowsEngine(),
    MomentsEngine(),
    FamiliesEngine(),
]

__all__ = ["ENGINES"]
