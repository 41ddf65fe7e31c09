from discreet.records.batches import as_source
from discreet.records.columns import Column, Level
from discreet.records.files import read
from discreet.records.lists import ListSource
from discreet.records.source import Source
from discreet.records.sums import sum_moments
from discreet.records.values import text_of

__all__ = ["Column", "Level", "ListSource", "Source", "as_source", "read", "sum_moments", "text_of"]
