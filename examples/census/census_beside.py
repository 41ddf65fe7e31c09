"""The same records without privacy, by scikit-learn, and by other private libraries, beside what the releases tell."""

import json
import subprocess
import sys
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from census_records import adult_file, read_adult
from census_truth import Census, Floats
from rich.console import Console
from rich.table import Table

from discreet.inference import Posterior

HERE = Path(__file__).parent
FEW = ("age", "sex", "schooling")
LINE = ("hours", "age", "sex", "schooling")
PEERS_PYTHON = HERE.parent.parent / ".venv-peers" / "bin" / "python"
"""`make peers` makes this environment; without it the peers are left out."""


def beside_others(console: Console, census: Census, posteriors: Mapping[str, Posterior[Any]], folder: Path) -> None:
    """Print classifiers on the test records, coefficients and quartiles, of all who can be run here."""
    path = adult_file("adult.test")
    assert path is not None
    test = Census(read_adult(path), census.study)
    features = [column.name for column in census.study.question("classifier").columns][1:]
    peers = _peers(console, census, test, features, folder)
    _show_classifiers(console, census, test, features, posteriors, peers)
    _show_line(console, census, posteriors["hours-line"], peers)
    _show_quartiles(console, census, posteriors["median-age"], peers)


def _peers(console: Console, census: Census, test: Census, features: list[str], folder: Path) -> dict[str, list[float]]:
    if not PEERS_PYTHON.exists():
        console.print("Peers are left out: `make .venv-peers/installed` makes their environment.")
        return {}
    bounds = np.array([[1, 17, 0, 1], [99, 90, 1, 16]], dtype=float)
    arrays = {
        **{"x": census.coded(features), "y": census.coded(["income"])[:, 0], "x_test": test.coded(features)},
        **{"levels": _levels(census, features), "few": census.coded(FEW), "few_test": test.coded(FEW)},
        **{"levels_few": _levels(census, FEW), "line": _line(census), "line_bounds": bounds},
    }
    np.savez(folder / "records.npz", **arrays)
    done = subprocess.run(
        [str(PEERS_PYTHON), str(HERE / "census_peers.py"), str(folder / "records.npz")],
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        console.print("Peers are left out: their script failed, see above.")
        return {}
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def _levels(census: Census, names: Any) -> Any:
    return np.array([len(census.study.columns[name].levels) for name in names])


def _line(census: Census) -> Floats:
    columns = census.numbers | {"sex": census.coded(["sex"])[:, 0].astype(float)}
    return np.column_stack([columns[name] for name in LINE])


def _show_classifiers(
    console: Console,
    census: Census,
    test: Census,
    features: list[str],
    posteriors: Mapping[str, Posterior[Any]],
    peers: Mapping[str, list[float]],
) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB

    y, many = census.coded(["income"])[:, 0], _levels(census, features)
    bayes = CategoricalNB(min_categories=many).fit(census.coded(features), y)
    odds = posteriors["income-odds"]
    names = [row.quantity for row in odds.rows()]
    x, x_test = census.design(names), test.design(names)
    line = LogisticRegression(C=np.inf, fit_intercept=False, max_iter=2000).fit(x, y)
    means = np.array([row.mean for row in odds.rows()])
    rows = {name: test.texts[name].tolist() for name in features}
    chances: dict[str, Any] = {
        "always <=50K": np.full(test.size, y.mean()),
        "naive Bayes: scikit-learn, not private": bayes.predict_proba(test.coded(features))[:, 1],
        "naive Bayes: discreet": np.asarray(posteriors["classifier"].predict_proba(rows))[:, 1],  # type: ignore[attr-defined]
        **{name: np.array(found) for name, found in peers.items() if name.startswith("naive")},
        "logistic: scikit-learn, not private": line.predict_proba(x_test)[:, 1],
        "logistic: discreet": 1 / (1 + np.exp(-x_test @ means)),
        **{name: np.array(found) for name, found in peers.items() if name.startswith("logistic")},
    }
    table = Table(
        title=f"Who earns more: on the {test.size:,} records of adult.test, epsilon = 1", title_justify="left"
    )
    for name in ("classifier", "accuracy", "log loss", "AUC"):
        table.add_column(name, justify="left" if name == "classifier" else "right")
    for name, each in chances.items():
        table.add_row(name, *(f"{figure:.3f}" for figure in _scores(each, test.coded(["income"])[:, 0])))
    console.print(table)


def _scores(chances: Any, truth: Any) -> tuple[float, float, float]:
    from sklearn.metrics import log_loss, roc_auc_score

    kept = np.clip(chances, 1e-12, 1 - 1e-12)
    right = float(np.mean((kept > 0.5) == truth))
    return right, float(log_loss(truth, kept)), float(roc_auc_score(truth, kept))


def _show_line(console: Console, census: Census, posterior: Posterior[Any], peers: Mapping[str, list[float]]) -> None:
    from sklearn.linear_model import LinearRegression

    line = _line(census)
    known = LinearRegression().fit(line[:, 1:], line[:, 0])
    rows, theirs = posterior.rows(), peers.get("line: diffprivlib LinearRegression")
    table = Table(title="Hours a week by age, sex and schooling, epsilon = 1", title_justify="left")
    for name in ("coefficient", "scikit-learn, not private", "discreet", "90 % interval", "diffprivlib"):
        table.add_column(name, justify="left" if name == "coefficient" else "right")
    for place, row in enumerate(rows):
        true = [known.intercept_, *known.coef_][place]
        mean, low, high = row.texts
        other = "-" if theirs is None else row.text(theirs[place])
        table.add_row(row.quantity, row.text(true), mean, f"{low} to {high}", other)
    console.print(table)


def _show_quartiles(
    console: Console, census: Census, posterior: Posterior[Any], peers: Mapping[str, list[float]]
) -> None:
    rows = posterior.rows()[::2]
    truths = census.truth("median-age", rows)
    table = Table(title="Quartiles of age, epsilon = 0.5", title_justify="left")
    found = {name.removeprefix("quartiles: "): each for name, each in peers.items() if name.startswith("quartiles")}
    for name in ("quantity", "truth", "discreet", "90 % interval", *found):
        table.add_column(name, justify="left" if name == "quantity" else "right")
    for place, row in enumerate(rows):
        mean, low, high = row.texts
        others = [f"{each[place]:.1f}" for each in found.values()]
        table.add_row(row.quantity, row.text(truths[place]), mean, f"{low} to {high}", *others)
    console.print(table)


def beside_synthetic(console: Console, census: Census, posterior: Posterior[Any]) -> None:
    """Print how far made-up records of the classifier's release are from the real ones: total variation of margins."""
    made: dict[str, list[Any]] = posterior.synthesize(census.size, seed=1)  # type: ignore[attr-defined]
    texts = {name: list(map(str, values)) for name, values in made.items()}
    other = Census({**census.texts, **texts}, census.study, named=True)
    table = Table(title=f"{census.size:,} made-up records beside the real ones: total variation", title_justify="left")
    for name in ("table", "mean", "largest"):
        table.add_column(name, justify="left" if name == "table" else "right")
    names = list(made)
    kinds: dict[str, list[tuple[str, ...]]] = {
        "one column": [(name,) for name in names],
        "a column and income": [("income", name) for name in names if name != "income"],
        "two other columns": list(combinations([name for name in names if name != "income"], 2)),
    }
    for words, tables in kinds.items():
        gaps = [np.abs(census.counts(*each) - other.counts(*each)).sum() / (2 * census.size) for each in tables]
        table.add_row(words, f"{np.mean(gaps):.3f}", f"{np.max(gaps):.3f}")
    console.print(table)


if __name__ == "__main__":
    sys.exit("This is run by run.py.")
