"""A one-page account of a release in plain words, in Markdown or as a page of HTML."""

from discreet.show.statement.account import statement
from discreet.show.statement.categories import LEVEL, MOST_ROWS
from discreet.show.statement.page import statement_html

__all__ = ["LEVEL", "MOST_ROWS", "statement", "statement_html"]
