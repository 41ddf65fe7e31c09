"""What is learnt: a model turns records into secret statistics, and statistics into a posterior."""

from discreet.models.bif import read_bif
from discreet.models.categories import Categories, Cell
from discreet.models.network import EquivalentSize, Network
from discreet.models.source import Source
from discreet.models.statistics import Statistics

__all__ = ["Categories", "Cell", "EquivalentSize", "Network", "Source", "Statistics", "read_bif"]
