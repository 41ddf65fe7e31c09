"""Pictures of what was published, as Vega-Lite specifications.

A chart is a plain dictionary: the numbers, and how they are drawn. It can be kept as JSON, shown by any program that
knows Vega-Lite, and turned into a picture by `render`, offline. Rows are drawn by their index, not by their name, so
that no two names can be taken for one.
"""

from discreet.report.charts._budget import MOST_CHARGES, budget_chart, composition_chart, width_chart
from discreet.report.charts._criticism import MOST_CHECKS, criticism_chart
from discreet.report.charts._drawing import Spec, render, require_ending
from discreet.report.charts._network import MOST_VARIABLES, network_chart
from discreet.report.charts._planning import audit_chart, ranking_chart
from discreet.report.charts._posterior import (
    AWARE,
    MOST_INTERVALS,
    PLUG_IN,
    comparison_chart,
    interval_chart,
    posterior_chart,
    rows_chart,
)

__all__ = [
    "AWARE",
    "MOST_CHARGES",
    "MOST_CHECKS",
    "MOST_INTERVALS",
    "MOST_VARIABLES",
    "PLUG_IN",
    "Spec",
    "audit_chart",
    "budget_chart",
    "comparison_chart",
    "composition_chart",
    "criticism_chart",
    "interval_chart",
    "network_chart",
    "posterior_chart",
    "ranking_chart",
    "render",
    "require_ending",
    "rows_chart",
    "width_chart",
]
