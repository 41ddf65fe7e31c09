from discreet.publishing._publish import publish
from discreet.publishing._refused import why_no_posterior as why_no_posterior
from discreet.publishing._refused import why_only_claimed as why_only_claimed
from discreet.publishing._sequence import publish_plan
from discreet.publishing._session import (
    ConditionalExpectation,
    Expectation,
    Mean,
    Predictive,
    Probability,
    Query,
    QueryError,
    QuerySession,
)
from discreet.publishing._session import PublishedDraw as PublishedDraw
from discreet.publishing._session import check_query as check_query
from discreet.publishing._simulate import simulate

__all__ = [
    "ConditionalExpectation",
    "Expectation",
    "Mean",
    "Predictive",
    "Probability",
    "Query",
    "QueryError",
    "QuerySession",
    "publish",
    "publish_plan",
    "simulate",
]
