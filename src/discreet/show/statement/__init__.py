"""A one-page account of a release in plain words, in Markdown or as a page of HTML."""

from discreet.show.statement.account import statement
from discreet.show.statement.page import statement_html
from discreet.show.statement.results import LEVEL, MOST_ROWS

__all__ = ["LEVEL", "MOST_ROWS", "statement", "statement_html"]
