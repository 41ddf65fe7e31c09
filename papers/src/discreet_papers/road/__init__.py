"""The papers' mechanisms on the road: each is declared in a study, planned, published, verified, read and shown.

Nothing in the table is written by hand: each cell is tried on made-up records, by the command line, and holds what came
of it, or the words in which it was refused.
"""

from discreet_papers.road.page import road_page
from discreet_papers.road.ways import WAYS, Way

__all__ = ["WAYS", "Way", "road_page"]
