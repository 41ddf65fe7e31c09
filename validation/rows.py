"""One table of what `make validate` found, to be compared after a change: a row for each figure of each setting.

    python validation/rows.py write [FOLDER]     # the results on file become validation/before-house.json
    python validation/rows.py compare [FOLDER]   # which figures of these results differ from that table

FOLDER is by default `validation/results`. A row says the sweep, the setting, the quantity, its mean over the data sets
that were made up, their number, and the standard error of the mean. Data sets have seeds of their own, the same in
every run, so unchanged code finds the same figures; `compare` prints those that differ by more than their joint
standard error, by how many of these, the largest first, and what only one of both has. With seeds in common that is a
strict measure: a figure that is one joint error away is worth a look, no proof of a mistake.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from math import hypot, isfinite, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from kept_results import HERE, RESULTS

TABLE = HERE / "before-house.json"
Figures = dict[str, float]
Row = dict[str, Any]
KEY = ("sweep", "setting", "quantity")
READ = ("aware", "plug-in")


def named(*heads: str) -> Callable[[Any], Iterator[Figures]]:
    """Return what yields a repeat that is one data set: a number, or several, of these names."""

    def figures(found: Any) -> Iterator[Figures]:
        yield {head: float(value) for head, value in zip(heads, np.ravel(found), strict=True)}

    return figures


def held(found: Any) -> Iterator[Figures]:
    """Yield the data sets of a batch: which intervals hold the truth."""
    for own in found:
        yield {f"interval {place} covers": float(value) for place, value in enumerate(own)}


def covered(places: Any) -> Figures:
    """Return how many 90 % intervals hold the truth, and where truths lie on average, from their places in (0, 1)."""
    inside = [0.05 <= place <= 0.95 for place in places]
    return {"90 % intervals cover": float(np.mean(inside)), "mean place": float(np.mean(places))}


def ranked(found: Any) -> Iterator[Figures]:
    """Yield the data sets of a batch, read with the noise in mind and by plug-in."""
    for pair in zip(*(found[name] for name in READ), strict=True):
        own = {name: covered(places) for name, places in zip(READ, pair, strict=True)}
        yield {f"{name}: {figure}": value for name, figures in own.items() for figure, value in figures.items()}


def placed(found: Any) -> Iterator[Figures]:
    """Yield one data set: places of truths, of one engine or of several by name."""
    by_name = found if isinstance(found, Mapping) else {"": found}
    yield {f"{name} {key}".strip(): value for name, own in by_name.items() for key, value in covered(own).items()}


def counted(found: Any) -> Iterator[Figures]:
    """Yield the intervals of one release one by one, as it says only how many of them hold the truth.

    So the error is that of independent ones; there may be a single release.
    """
    for name, own in found.items():
        for kind, (holding, of) in own.items():
            yield from ({f"{name}: {kind} covered": float(place < holding)} for place in range(of))


def regressed(found: Any) -> Iterator[Figures]:
    """Yield one data set of a regression: intervals that hold, and errors, coefficient by coefficient."""
    yield {f"{name}: {place}": float(v) for name, own in found.items() for place, v in enumerate(own) if v is not None}


def skewed(found: Any) -> Iterator[Figures]:
    """Yield the data sets of a batch: intervals of three levels that hold, and a width."""
    heads = ("50 % covers", "90 % covers", "95 % covers", "width")
    for name, own in found.items():
        for values in own:
            yield {f"{name}: {head}": float(v) for head, v in zip(heads, values, strict=False) if v is not None}


def joined_cells(found: Any) -> Iterator[Figures]:
    """Yield one release: shares of cells and margins that are held at 50, 90 and 95 %, and distances of points."""
    figures = {f"{name} is off": float(value) for name, value in found["off"].items()}
    for kind in ("cells", "margins"):
        for level, (holding, of) in zip((50, 90, 95), found[kind], strict=True):
            figures |= {f"{kind}: {level} % covers": holding / of} if of else {}
    yield figures


def odds(found: Any) -> Iterator[Figures]:
    """Yield the studies of a batch: estimates and widths of all coefficients, with privacy and without."""
    for study in found:
        own = ((place, mean, high - low) for place, (mean, low, high) in enumerate(study))
        yield {f"{word} {k}": value for k, *pair in own for word, value in zip(("mean", "width"), pair, strict=True)}


SWEEPS: dict[str, Callable[[Any], Iterator[Figures]]] = {
    "audits": named("finds a violation"),
    "census-odds": odds,
    "criticism": named("refutes", "p of a pair", "p of a table"),
    "fixed-truths-alone": counted,
    "fixed-truths-together": counted,
    "forced-priors": named("50 % covers", "90 % covers", "95 % covers"),
    "graph-calibration": placed,
    "graphs": named("90 % intervals cover"),
    "joint-table": joined_cells,
    "program-truths": held,
    "programs": ranked,
    "ranks": ranked,
    "regression": regressed,
    "regression-calibration": placed,
    "skewed-networks": skewed,
    "skewed-numbers": skewed,
    "skewed-others": skewed,
    "skewed-rates": skewed,
    "skewed-regression": skewed,
    "skewed-secret-size": skewed,
    "skewed-synthesis": skewed,
}
"""What one repeat of each sweep holds."""


def standard_error(values: list[float]) -> float:
    """Return the standard error of a mean; of a share, that of (k + 1) / (n + 2), which is never 0.

    Of a single number nothing is known: its own size stands for its error.
    """
    count = len(values)
    if set(values) <= {0.0, 1.0}:
        share = (sum(values) + 1) / (count + 2)
        return sqrt(share * (1 - share) / count)
    return float(np.std(values, ddof=1)) / sqrt(count) if count > 1 else abs(values[0])


def rows_of(folder: Path) -> Iterator[Row]:
    """Yield the rows of all results in a folder, by sweep and setting."""
    for path in sorted(folder.glob("*/*.json")):
        found, sweep = json.loads(path.read_text("utf-8")), path.parent.name
        if sweep not in SWEEPS:
            raise SystemExit(f"Nothing is known of the sweep {sweep!r}: add it to SWEEPS. Nothing was written.")
        values: dict[str, list[float]] = {}
        for repeat in found["repeats"]:
            for figures in SWEEPS[sweep](repeat):
                for name, value in figures.items():
                    quantity = name.replace(f", {found['setting']}", "")
                    is_endless = f"{quantity} is endless"
                    values.setdefault(is_endless, []).append(float(not isfinite(value)))
                    values.setdefault(quantity, []).extend([value] if isfinite(value) else [])
        for quantity, own in values.items():
            if not own or (quantity.endswith(" is endless") and not any(own)):
                continue
            figure, error = float(np.mean(own)), standard_error(own)
            yield dict(zip(KEY, (sweep, found["setting"], quantity), strict=True)) | {
                "figure": float(f"{figure:.6g}"), "repeats": len(own), "standard_error": float(f"{error:.3g}"),
            }  # fmt: skip


def compared(kept: list[Row], now: list[Row]) -> list[str]:
    """Return in words every figure that differs by more than the joint standard error, the farthest first."""
    before, after = ({tuple(row[key] for key in KEY): row for row in rows} for rows in (kept, now))
    lines, apart = [], []
    for key in [*before, *(key for key in after if key not in before)]:
        if key not in before or key not in after:
            lines.append(f"only {'before' if key in before else 'now'}: {', '.join(key)}")
            continue
        one, two = before[key], after[key]
        joint = hypot(one["standard_error"], two["standard_error"])
        distance = abs(one["figure"] - two["figure"])
        if distance > joint:
            far = distance / joint if joint else float("inf")
            apart.append((far, f"{', '.join(key)}: {one['figure']:g} became {two['figure']:g}, {far:.1f} joint errors"))
    return [*(words for _, words in sorted(apart, reverse=True)), *lines]


def main(words: list[str]) -> None:
    """Write the table, or compare with it."""
    folder = Path(words[1]) if len(words) > 1 else RESULTS
    rows = list(rows_of(folder))
    if words[:1] == ["write"] and rows:
        text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        TABLE.write_text(f"[\n{text}\n]\n", "utf-8")
        print(f"{len(rows)} rows of {len({(row['sweep'], row['setting']) for row in rows})} settings")
    elif words[:1] == ["compare"] and rows:
        found = compared(json.loads(TABLE.read_text("utf-8")), rows)
        print("\n".join(found) or f"all {len(rows)} figures are as they were, within their joint standard errors")
    else:
        raise SystemExit(f"Say write or compare; there must be results in {folder}. Nothing was written.")


if __name__ == "__main__":
    main(sys.argv[1:])
