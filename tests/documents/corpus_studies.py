"""The study files of a version: every model that a study can ask for, every kind of query, every sort of budget."""

from corpus_cases import PERSONS, SIZE, SYMPTOMS

TABLE, PUBLISHED, DRAWN = "patients.csv", "published.toml", "queries.toml"
HALVES = ("first half.tsv", "second half.tsv")
"""The made-up patients in one file, and in two with tabs between fields."""

_STUDY = """[data]
{data}
{columns}
[budget]
ledger = "{ledger}"
population = "made-up patients"
{budget}
{questions}"""
_RECORDS = f'path = "{TABLE}"\nsize = {SIZE}\nunit = "one patient"\nrows_per_unit = 2'
_PERSONS = f'path = "{TABLE}"\nsize = {PERSONS}\nunit_column = "patient"'
_HALVES = f'path = ["{HALVES[0]}", "{HALVES[1]}"]\nsize = {SIZE}\nseparator = "\\t"'
_ALL = 'epsilon = "20"\ndelta = "0.01"'
_COUNTED = "".join(f'[columns.{name}]\nlevels = ["no", "yes"]\noutside = "no"\n' for name in SYMPTOMS)
_WARD = '[columns.ward]\nlevels = ["A", "B", "C"]\noutside = "A"\n'
_AGE = "[columns.age]\nbounds = [0, 100]\nmissing = 40\n"
_STAY = "[columns.stay]\nbounds = [0, 10]\nmissing = 0\n"
_FALLS = "[columns.falls]\nlevels = [0, 1, 2]\noutside = 2\n"


def _study(columns: str, questions: str, data: str = _RECORDS, budget: str = _ALL, ledger: str = "study.ledger") -> str:
    return _STUDY.format(data=data, columns=columns, budget=budget, questions=questions, ledger=ledger)


def _question(name: str, model: str, keys: str, mechanism: str, epsilon: str = "1") -> str:
    return f'[questions.{name}]\nmodel = "{model}"\n{keys}\nmechanism = "{mechanism}"\nepsilon = "{epsilon}"\n'


def _per_unit(name: str, model: str, keys: str, epsilon: str) -> str:
    return f'[questions.{name}]\nmodel = "{model}"\n{keys}\nepsilon_per_unit = "{epsilon}"\n'


def _number(name: str, keys: str, mechanism: str) -> str:
    return _question(name, "number", keys, mechanism, "2")


def _query(name: str, question: str, kind: str, keys: str = "") -> str:
    return f'[queries.{name}]\nof = "{question}"\nkind = "{kind}"\n{keys}\n'


_DRAWS = "PosteriorSampling.tempered"
_TEMPERED = 'delta = "1e-4"\ngrid_bits = 4'
_STATED = 'power = "0.1"\ndelta = "1e-4"\ngrid_bits = 4'  # what a search finds may differ between machines
_DATED = '[columns.admitted]\nbands = ["2025-01-01", "2025-06-01", "2026-01-01"]\nnames = ["first", "second"]\n'
STUDIES = {
    "categories.toml": _study(
        _COUNTED + _DATED + '[columns.age]\nbands = [0, 30, 50, 120]\noutside = "unknown"\n'
        '[columns.smoking]\nlevels = ["never", "former"]\n[columns.insured]\nlevels = [false, true]\noutside = false\n',
        '[questions.smoking]\ncolumns = ["smoking"]\nmechanism = "GeometricHistogram"\nepsilon = "0.5"\nprior = 0.5\n'
        'label = "Smoking, in words"\nreading = "none"\n'
        + _question("crossed", "categories", 'columns = ["age", "fever"]\ndelta = 1e-6', "DiscreteGaussianCounts")
        + _question("insured", "categories", 'columns = ["insured"]\nprior = [1, 2]', "GeometricHistogram")
        + _question("season", "categories", 'columns = ["admitted"]\nprior = "none"', "DiscreteLaplaceCounts", "1/3"),
        _HALVES,
    ),
    "networks.toml": _study(
        _COUNTED,
        _question(
            "cough", "naive-bayes", 'target = "smoker"\nfeatures = ["cough", "fever"]\nprior = { equivalent_size = 4 }',
            "CubeCounts", "2",
        )
        + _question(
            "tree", "network", 'edges = ["smoker -> cough", "cough -> fever"]\n'
            "prior = { smoker = 2, cough = 0.5, fever = [0.5, 1] }\nshares = [2, 1]", "FamilyHistograms",
        )
        + _question("graph", "network", 'bif = "graph.bif"', "FamilyHistograms"),
        budget=_ALL + '\naccountant = "zcdp"',
    ),
    "regression.toml": _study(
        _COUNTED + _AGE + _STAY,
        _question("stay", "regression", 'formula = "stay ~ age*smoker + age^2"\nnoise = 0.2\nprior = 2', "BoxMoments")
        + _question("mean", "regression", 'formula = "stay ~ 1"\nprior = "none"', "ConeMoments", "4")
        + _question("age", "regression", 'formula = "stay ~ age"\nnorm_bound = 1\ndelta = "1e-6"', "GaussianMoments"),
    ),
    "numbers.toml": _study(
        _COUNTED + _AGE + _STAY + "[columns.falls]\nbounds = [0, 3]\nwhole = true\n[columns.weight]\nbounds = [0, 4]\n"
        '[columns.admitted]\nbounds = ["2025-01-01", "2026-01-01"]\n',
        _number("age", 'column = "age"\nask = ["mean", "sum", "variance"]\nsquares = "1/3"', "GeometricSums")
        + _number("date", 'column = "admitted"\nask = "mean"\nby = "smoker"', "GeometricSums")
        + _number("weighted", 'column = "stay"\nask = "mean"\nweight = "weight"\nweights = "fixed by design"',
                  "GeometricSums")
        + _number("quantiles", 'column = "age"\nquantiles = [0.25, "1/2"]\ncells = 4\nby = "cough"', "TreeTable")
        + _number("falls", 'column = "falls"\nask = ["distribution", "mean"]\nedges = [0, 1, 3]\nblocks = 1',
                  "TreeTable")
        + _number("growing", 'column = "stay"\nask = "quantiles"\ngrowing_from = 2\ncells = 3', "TreeTable")
        + _number("median", 'column = "age"\nquantiles = ["0.5"]', "ChosenCounts"),
    ),
    "persons.toml": _study(
        "[columns.stay]\nbounds = [0, 10]\n",
        _number("total", 'column = "stay"\nask = ["mean", "sum"]\nper_person = "total"\ntotal_bounds = [0, 30]',
                "GeometricSums")
        + _number("longest", 'column = "stay"\nask = "quantiles"\ncells = 4\nper_person = "largest"', "TreeTable")
        + _number("rows", 'column = "stay"\nask = "mean"\nper_person = "rows"\nrows_per_person = 4', "GeometricSums"),
        _PERSONS,
    ),
    "metric.toml": _study(
        _AGE + _STAY + _WARD,
        _per_unit("age", "number", 'column = "age"\nquantiles = ["0.5"]\ncells = 5', "0.05")
        + _per_unit("stay", "number", 'column = "stay"\nask = "mean"\nmechanism = "MetricSums"', "0.1")
        + _per_unit("ward", "categories", 'columns = ["ward"]\nhangs_on = { A = "C", B = "C" }\n'
                    'lengths = { A = "1/2" }', "0.5"),
        f'path = "{TABLE}"\nsize = {SIZE}',
        'epsilon_per_unit = "2"',
    ),
    "metric-groups.toml": _study(
        _COUNTED + _AGE,
        _per_unit("age", "number", 'column = "age"\nquantiles = ["0.5"]\ncells = 2\nby = "smoker"\nbetween = 20',
                  "0.05")
        + _per_unit("mean", "number", 'column = "age"\nask = "mean"\nby = "smoker"', "0.05"),
        f'path = "{TABLE}"\nsize = {SIZE}',
        'epsilon = "40"\nper = "quarter"\nallowance = "20"',
    ),
    "families.toml": _study(
        "",
        _question("falls", "poisson", 'column = "falls"\nmost = 3\noutside = 3\nshape = 2\nrate = 2\n'
                  'lowest = "0.5"\nhighest = 2\ngrid_bits = 4', "RateTruncation.tempered", "8")
        + _question("tries", "binomial", f'column = "falls"\ntrials = 3\noutside = 0\nalpha = 2\nbeta = 2\n{_TEMPERED}',
                    _DRAWS)
        + _question("stay", "exponential", f'column = "stay"\nhigh = 10\noutside = 10\nbands = 2\nshape = 2\n'
                    f"rate = 8\n{_TEMPERED}", _DRAWS)
        + _question("age", "normal-mean", 'column = "age"\nlow = 0\nhigh = 100\noutside = 50\nvariance = 400\n'
                    f"bands = 3\nprior_records = 2\n{_TEMPERED}", _DRAWS)
        + _question("scale", "laplace-scale", 'column = "change"\nreach = 2\noutside = "usual"\nbands = 2\n'
                    f"shape = 2\nrate = 2\n{_TEMPERED}", _DRAWS)
        + _question("precision", "normal-precision", 'column = "change"\nreach = 2\noutside = "usual"\nbands = 2\n'
                    f"shape = 2\nrate = 2\n{_TEMPERED}", _DRAWS),
    ),
    "programs.toml": _study(
        _COUNTED + _WARD + _FALLS + "[columns.stay]\nbands = [0, 2, 4, 6, 10]\n",
        _question("fever", "logistic", 'formula = "fever ~ smoker + (1 | ward)"', "GeometricHistogram", "2")
        + _question("ward", "multinomial", 'formula = "ward ~ smoker"\nprior = "Normal(0, 1)"', "GeometricHistogram")
        + _question("together", "log-linear", 'formula = "~ smoker*fever"', "DiscreteLaplaceCounts")
        + _question("falls", "family", 'column = "falls"\nfamily = "binomial"\ntrials = 3', "GeometricHistogram")
        + _question("stay", "family", 'column = "stay"\nfamily = "gamma"\npriors = { mean = "Gamma(2, 1)" }',
                    "GeometricHistogram"),
    ),
    DRAWN: _study(
        _COUNTED + _WARD,
        _question("drawn", "categories", f'columns = ["ward", "fever"]\nprior = 2\n{_STATED}', "PosteriorSampling")
        + _question("smoker", "network", f'edges = ["smoker"]\n{_STATED}', "NetworkSampling")
        + _query("everything", "drawn", "mean")
        + _query("fever", "drawn", "probability", 'event = "fever=yes"\nlabel = "Fever, in words"')
        + _query("smoking", "smoker", "probability", 'event = "smoker=yes"')
        + _query("fever-in-b", "drawn", "conditional-probability", 'event = "fever=yes"\ngiven = "ward=B"')
        + _query("cost", "drawn", "expectation", 'values = { "fever=yes" = 3, "fever=no" = 1.5 }')
        + _query("cost-in-a", "drawn", "conditional-expectation",
                 'values = { "fever=yes" = 3, "fever=no" = 1.5 }\ngiven = "ward=A"')
        + _query("next", "drawn", "predictive", 'event = "fever=yes, ward=B"\nrecords = 5')
        + '[serve]\npolicy = "automatic"\nallowance = "0.5"\ntime_limit = 10\nvisible_after = 15.5\n',
        ledger="queries.ledger",
    ),
    PUBLISHED: _study(
        _COUNTED + _WARD,
        _question("ward", "categories", 'columns = ["ward"]\nprior = 0.5', "GeometricHistogram")
        + _question("undecided", "categories", 'columns = ["fever"]\nlabel = "Fever"', "DiscreteLaplaceCounts"),
        budget='epsilon = "20"',
        ledger="published.ledger",
    ),
}  # fmt: skip
FROM_ELSEWHERE = {"label": "Coughs", "columns": ["cough"], "mechanism": "GeometricHistogram", "epsilon": "1/2"}
"""A question that is in none of the published studies: it came from elsewhere, over the same columns."""
