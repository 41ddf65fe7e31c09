"""What is learnt: a model turns records into secret statistics, and statistics into a posterior."""

from discreet.models.categories import Categories, Cell
from discreet.models.source import Source
from discreet.models.statistics import Statistics

__all__ = ["Categories", "Cell", "Source", "Statistics"]
