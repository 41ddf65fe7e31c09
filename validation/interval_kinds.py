"""Every kind of interval that the library shows, found in its code, and the line that measures it on the page.

A kind is a posterior's member whose result has an interval, found by the type that it is declared to return, or one
quantity of its rows. A test fails where a kind has no entry here, or where an entry names a line that is not there.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import discreet
from discreet.inference import Posterior
from discreet.numbers import _sums_model as number_sums
from discreet.numbers._table_estimands import ESTIMANDS

NONE = "none"
_WITH_INTERVAL = re.compile(
    r"\b(Row|Interval|BetaMixture|Share|ShareDistribution|Odds|Sampled|SampledDifference|SampledRatio|CountDistribution|Law|PooledRates|Difference"
    r"|Comparison|Prediction)\b"
)
_NONE_THERE = ("bridges", "server", "cli", "sklearn")  # they hand on draws or rows, or need further libraries
_SAME_ROWS = {"rows", "some_rows", "interval", "rate_distributions"}  # what rows and rates say, in another form
_WRITTEN_ONCE = {"difference"}  # for all posteriors, on the draws of each: a kind of its own for every one of them
_ASKED = {
    "CategoriesPosterior": ["rows", "rows of `table`", "margins of `table`"],
    "NumberSumsPosterior": [f"{ask}, {of}" for ask in number_sums.ASKED for of in ("records", "population")],
    "WeightedSumsPosterior": [f"{ask}, {of}" for ask in ("mean", "sum") for of in ("records", "population")],
    "NumberTablePosterior": list(ESTIMANDS),
}


def posteriors() -> list[type]:
    """Return all classes of posteriors that a reader may be given."""
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if not set(_NONE_THERE) & set(module.name.split(".")):
            importlib.import_module(module.name)
    found: set[type] = set()
    left: list[type] = [Posterior]
    while left:
        cls = left.pop()
        left += cls.__subclasses__()
        found |= set() if inspect.isabstract(cls) else {cls}
    return sorted((cls for cls in found if cls.__module__.startswith("discreet.")), key=lambda cls: cls.__name__)


def kinds() -> Iterator[str]:
    """Yield the rows of each posterior, and its own members with an interval."""
    every = posteriors()
    for cls in every:
        yield from (f"{cls.__name__}: {ask}" for ask in _ASKED.get(cls.__name__, ["rows"]))
        above = [base for base in cls.__mro__[1:] if base in (Posterior, *every)]
        for name in dir(cls):
            own = inspect.getattr_static(cls, name)
            function = own.fget if isinstance(own, property) else getattr(own, "func", own)
            returned = str(getattr(function, "__annotations__", {}).get("return", ""))
            inherited = name not in _WRITTEN_ONCE and any(
                inspect.getattr_static(base, name, None) is own for base in above
            )
            if not (name.startswith("_") or name in _SAME_ROWS or inherited) and _WITH_INTERVAL.search(returned):
                yield f"{cls.__name__}.{name}"


def _numbers(ask: str) -> str:
    return f"{ask}: a constant inside the bounds, n = 100, epsilon 1"


def _rates(what: str) -> str:
    return f"{what}: rate 0 in a group of 60, n = 300, epsilon 0.5"


_WARDS = "five wards, n = 2,000, epsilon 1"
_PARENTS = "rare event with two parents, n = 1,000, epsilon 1"
_CELLS = "lognormal in 16 cells, n = 500, epsilon 1"
_OWN_SUM = "Adult country x occupation, n = 24,420, epsilon 1"
_NUMBERS_PAGE = f"{NONE}; on fixed truths see [numbers](numbers.md)"
_BULK = "coefficient of the bulk: skewed features, n = 10,000, epsilon 1"
_SECRET = "8 wards x 3, n epsilon = 50"
_INCOMES, _IN_CELLS = "incomes in two groups, n epsilon = 50", "incomes in 32 cells, n epsilon = 50"
_NAIVE = "naive Bayes, rare class, n epsilon = 50"
_POPULATION = "difference, population"
_ADULT = "UCI Adult, epsilon 0.1"
MEASURED = {
    "SynthesisMargin.difference": f"{NONE}; of draws whose shares are those of the rows",
    "SynthesisMargin: rows": f"share of a measured pair: {_ADULT}",
    "SynthesisPosterior: rows": f"share of a level: {_ADULT}",
    "SynthesisPosterior.cell_rows": f"share of a measured pair: {_ADULT}",
    "SynthesisPosterior.chance": f"share of a measured pair: {_ADULT}",
    "SynthesisPosterior.counts": f"count of a measured pair: {_ADULT}",
    "SynthesisPosterior.dependence": f"distance from independence: {_ADULT}",
    "SynthesisPosterior.difference": f"{NONE}; of draws whose shares are those of the rows",
    "SynthesisPosterior.group_sizes": f"count of a level: {_ADULT}",
    "SynthesisPosterior.rates": f"rate in a group, measured together: {_ADULT}",
    "CategoriesPosterior.difference": f"difference: {_WARDS}",
    "FamilyPosterior.difference": f"{NONE}; there is one quantity",
    "MarginPosterior.difference": "difference of a margin's levels: three wards x fall, n = 1,000, epsilon 1",
    "ModelPosterior.difference": "difference of coefficients: wards of a logistic model, n = 5,000, epsilon 1",
    "NetworkPosterior.difference": (
        "difference of entries of a network's table: rare event with two parents, n = 5,000, epsilon 1"
    ),
    "NumberQuantilesPosterior.difference": f"{_POPULATION}: medians at chosen places, n = 600, epsilon 1",
    "NumberSumsPosterior.difference": f"{_POPULATION}: means, n = 600, epsilon 1",
    "NumberTablePosterior.difference": f"{_POPULATION}: medians of a table, n = 600, epsilon 1",
    "PooledRates.difference": "difference of pooled rates: three wards x fall, n = 1,000, epsilon 1",
    "RegressionPosterior.difference": "difference of slopes: two exponential features, n = 2,000, epsilon 1",
    "SecretNumberNetworkPosterior.difference": f"{NONE}; of the same draws as that of other networks",
    "SecretNumberSumsPosterior.difference": f"{NONE}; of the same draws as that of other sums",
    "SecretNumberTablePosterior.difference": f"{NONE}; of the same draws as that of other tables",
    "SecretNumberWeightedPosterior.difference": f"{NONE}; of the same draws as that of other sums",
    "SecretNumberNetworkPosterior: rows": f"feature in the rare class: {_NAIVE}",
    "SecretNumberNetworkPosterior.number_of_records": f"number of records, naive Bayes: {_NAIVE}",
    "SecretNumberSumsPosterior: rows": f"mean of a group, records: {_INCOMES}",
    "SecretNumberSumsPosterior.number_of_records": f"number of records, sums: {_INCOMES}",
    "SecretNumberTablePosterior: rows": f"median, records: {_IN_CELLS}",
    "SecretNumberTablePosterior.number_of_records": f"number of records, a table of numbers: {_IN_CELLS}",
    "SecretNumberWeightedPosterior: rows": "mean per row, persons: rows of persons, n epsilon = 50",
    "SecretSizePosterior.difference": ("difference of cells, secret number: three wards x fall, about 500, epsilon 1"),
    "WeightedRegressionPosterior.difference": (
        "coefficient of the bulk, difference: slopes of skewed features, n = 10,000, epsilon 1"
    ),
    "WeightedSumsPosterior.difference": f"{_POPULATION}: weighted means, n = 600, epsilon 1",
    "CategoriesPosterior.number_of_records": f"{NONE}; a number that is public",
    "ModelPosterior.number_of_records": f"{NONE}; read like that of the table, without the program",
    "SecretSizePosterior: rows": "share of a cell: Zipf of 10 cells, n epsilon = 50",
    "SecretSizePosterior.group_sizes": f"size of a group: {_SECRET}",
    "SecretSizePosterior.number_of_records": f"number of records, measured: {_SECRET}",
    "SecretSizePosterior.true_count": "count of a cell: Zipf of 10 cells, n epsilon = 50",
    "CategoriesPosterior: rows": _OWN_SUM,
    "CategoriesPosterior: rows of `table`": f"joint table: {_OWN_SUM}",
    "CategoriesPosterior: margins of `table`": f"joint table: {_OWN_SUM}",
    "CategoriesPosterior.chance": _rates("conditional"),
    "CategoriesPosterior.conditional": _rates("conditional"),
    "CategoriesPosterior.differ": f"{NONE}; a probability, without an interval",
    "CategoriesPosterior.difference_distribution": _rates("difference of shares"),
    "CategoriesPosterior.group_sizes": f"size of a group: {_WARDS}",
    "CategoriesPosterior.highest_density": f"shortest interval of a cell: {_WARDS}",
    "CategoriesPosterior.odds_ratio": _rates("odds ratio"),
    "CategoriesPosterior.pooled": f"pooled rate, other groups: {_WARDS}",
    "CategoriesPosterior.predictive": "yes among 100 further records: rate 0 in 60 records, epsilon 0.5",
    "CategoriesPosterior.probability": _rates("share of the cell"),
    "CategoriesPosterior.quantity": f"function of the shares: {_WARDS}",
    "CategoriesPosterior.rates": _rates("conditional"),
    "CategoriesPosterior.ratio": f"ratio of shares: {_WARDS}",
    "CategoriesPosterior.risk_difference": _rates("difference of rates"),
    "CategoriesPosterior.risk_ratio": _rates("ratio of rates"),
    "CategoriesPosterior.true_count": _rates("count of the cell"),
    "FamilyPosterior: rows": "Poisson, one draw",
    "MarginPosterior: rows": _OWN_SUM,
    "MarginPosterior.differ": f"{NONE}; a margin refuses it",
    "MarginPosterior.pooled": f"{NONE}; a margin refuses it",
    "ModelPosterior: rows": "coefficient of a logistic model: three wards, n = 2,000, epsilon 1",
    "NetworkPosterior: rows": "naive Bayes, FamilyHistograms",
    "NetworkPosterior.chance": f"conditional by a network: {_PARENTS}",
    "NetworkPosterior.conditional": f"conditional by a network: {_PARENTS}",
    "NetworkPosterior.group_sizes": f"size of a group by a network: {_PARENTS}",
    "NetworkPosterior.probability": f"probability by a network: {_PARENTS}",
    "NetworkPosterior.rates": f"entry of a network's table: {_PARENTS}",
    "NumberTablePosterior: quantiles": _NUMBERS_PAGE,
    "NumberTablePosterior: distribution": f"share below an edge, population: {_CELLS}",
    "NumberTablePosterior: mean": f"mean by a table, population: {_CELLS}",
    "NumberTablePosterior.cdf": f"share below an edge, population: {_CELLS}",
    "NumberTablePosterior.histogram": f"share of a cell of a number, population: {_CELLS}",
    "NumberTablePosterior.quantile": _NUMBERS_PAGE,
    "NumberQuantilesPosterior: rows": _NUMBERS_PAGE,
    "NumberQuantilesPosterior.quantile": _NUMBERS_PAGE,
    "PooledRates: rows": f"pooled rate, other groups: {_WARDS}",
    "PooledRates.rate": f"pooled rate, outlying group: {_WARDS}",
    "RegressionPosterior: rows": f"{NONE}; on fixed truths see [regression](regression.md)",
    "WeightedRegressionPosterior: rows": _BULK,
    "RegressionPosterior.predict": "a new record's target: exponential feature, n = 2,000, epsilon 1",
    **{  # a standard deviation is the root of a variance, and so are both ends of its interval
        f"NumberSumsPosterior: {each}": _numbers(each.replace(number_sums.DEVIATION, number_sums.VARIANCE))
        for each in _ASKED["NumberSumsPosterior"]
    },
    **{f"WeightedSumsPosterior: {each}": _NUMBERS_PAGE for each in _ASKED["WeightedSumsPosterior"]},
}


def main() -> None:
    """Print every kind, as entries of `MEASURED`: for whoever adds one."""
    for kind in kinds():
        print(f"    {kind!r}: {MEASURED.get(kind, NONE)!r},")


if __name__ == "__main__":
    main()
