from discreet.report._documents import csv_text as csv_text
from discreet.report._documents import document_of, write_csv
from discreet.report._documents import rows_with_truth as rows_with_truth
from discreet.report._documents import write_draws as write_draws
from discreet.report._ledger_page import ledger_page as ledger_page
from discreet.report._quality_page import Quality as Quality
from discreet.report._quality_page import quality_page as quality_page
from discreet.report._theme import BAND as BAND
from discreet.report._theme import BLUE as BLUE
from discreet.report._theme import CONFIG as CONFIG
from discreet.report._theme import DARK as DARK
from discreet.report._theme import GREY as GREY
from discreet.report._theme import INK as INK
from discreet.report._theme import PAGE_COLOURS as PAGE_COLOURS
from discreet.report._theme import PALE as PALE
from discreet.report._theme import PAPER as PAPER
from discreet.report._theme import VERMILION as VERMILION
from discreet.report._theme import in_the_dark as in_the_dark

__all__ = ["document_of", "write_csv"]
