"""A posterior as one page for people without Python: it stands alone, needs no network, and answers questions."""

from discreet.report.page._page import posterior_page, write_page

__all__ = ["posterior_page", "write_page"]
