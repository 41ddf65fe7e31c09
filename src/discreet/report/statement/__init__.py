"""A one-page account of a release in plain words, in Markdown or as a page of HTML."""

from discreet.report.statement._page import statement_html
from discreet.report.statement._results import LEVEL, MOST_ROWS
from discreet.report.statement._statement import statement

__all__ = ["LEVEL", "MOST_ROWS", "statement", "statement_html"]
