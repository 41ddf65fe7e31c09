"""The tables of docs/calibration.md, made of what the sweeps found.

    python validation/calibration_page.py collect   # results of `make validate-full` become validation/calibration.json
    python validation/calibration_page.py write     # and these the tables of the page

A test holds the page against the file.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from interval_kinds import MEASURED, kinds
from kept_results import HERE, RESULTS, write
from rank_tests import coverage, uniformity
from test_joint_table import summed_up
from test_skewed_truths import joined

COLLECTED = HERE / "calibration.json"
PAGE = HERE.parent / "docs" / "calibration.md"
READINGS = {"plug-in": "plug-in", "D1": "Dirichlet(1)", "learnt": "learnt, opened", "own": "own sums"}
KINDS = ("margins", "cells")
SKEWED = (
    "skewed-numbers",
    "skewed-rates",
    "skewed-others",
    "skewed-networks",
    "skewed-secret-size",
    "skewed-differences",
    "skewed-regression",
    "skewed-synthesis",
)
Entry = dict[str, Any]


def files(sweep: str) -> Iterator[Entry]:
    """Give what is kept of each setting of a sweep, by seed."""
    found = [json.loads(path.read_text("utf-8")) for path in (RESULTS / sweep).glob("*.json")]
    yield from sorted(found, key=lambda each: int(each["seed"]))


def collected(earlier: dict[str, Any]) -> dict[str, Any]:
    """Return all results on file, with the repeats summed up; what is not on file stays as it was collected earlier."""
    truths: dict[str, Entry] = {each["setting"]: dict(each) for each in earlier["fixed truths"]}
    ranks = {each["setting"]: each for each in earlier["ranks"]}
    for sweep in ("fixed-truths-alone", "fixed-truths-together"):
        for each in files(sweep):
            entry = truths.setdefault(each["setting"], {"setting": each["setting"], "seed": each["seed"]})
            for name in each["repeats"][0]:
                sums = {kind: np.sum([r[name][kind] for r in each["repeats"]], axis=0).tolist() for kind in KINDS}
                entry[name] = {"commit": each["commit"], "releases": len(each["repeats"]), **sums}
    forced = {each["setting"]: each for each in earlier.get("forced priors", [])}
    return {
        "forced priors": list(
            (forced | {each["setting"]: forced_prior(each) for each in files("forced-priors")}).values()
        ),
        **{name: skewed(name, earlier.get(name, [])) for name in SKEWED},
        "joint tables": joint_tables(earlier.get("joint tables", [])),
        "fixed truths": sorted(truths.values(), key=lambda each: int(each["seed"])),
        "ranks": list((ranks | {each["setting"]: ranked(each) for each in files("ranks")}).values()),
    }


def joint_tables(earlier: Sequence[Entry]) -> list[Entry]:
    """Return how often intervals of the joint table hold fixed truths, and how far its points are from them."""
    found = {each["setting"]: each for each in earlier}
    for each in files("joint-table"):
        known: Entry = {name: each[name] for name in ("setting", "seed", "commit")}
        found[each["setting"]] = known | summed_up(each["repeats"])
    return sorted(found.values(), key=lambda each: int(each["seed"]))


def skewed(sweep: str, earlier: Sequence[Entry]) -> list[Entry]:
    """Return how often intervals hold skewed truths; a setting that changed files were read with is not taken up."""
    found = {each["setting"]: each for each in earlier}
    for each in files(sweep):
        if " " not in each["commit"]:
            known: Entry = {name: each[name] for name in ("setting", "seed", "commit")}
            found[each["setting"]] = known | {"quantities": joined(each["repeats"])}
    return sorted(found.values(), key=lambda each: int(each["seed"]))


def ranked(found: Entry) -> Entry:
    """Return coverage, its standard error and the p-value of the ranks of one setting, read both ways."""
    entry: Entry = {name: found[name] for name in ("setting", "seed", "commit")}
    for name in ("aware", "plug-in"):
        places = np.concatenate([batch[name] for batch in found["repeats"]])
        share, error = coverage(places)
        entry["data sets"] = len(places)
        entry[name] = {"covers": round(share, 4), "error": round(error, 4), "p": float(f"{uniformity(places):.3g}")}
    return entry


def forced_prior(found: Entry) -> Entry:
    """Return how often intervals of one setting hold the truth: the mean over releases, and its standard error."""
    entry: Entry = {name: found[name] for name in ("setting", "seed", "commit")}
    shares = np.array(found["repeats"], dtype=float)
    entry["releases"], entry["covers"] = len(shares), shares.mean(axis=0).round(4).tolist()
    entry["errors"] = (shares.std(axis=0, ddof=1) / np.sqrt(len(shares))).round(4).tolist()
    return entry


def forced_priors(results: dict[str, Any]) -> str:
    """Return how often draws under a prior that privacy forced cover fixed, skewed truths."""
    rows = [
        [each["setting"], str(each["releases"])]
        + [f"{percent(a)} ± {percent(b)}" for a, b in zip(each["covers"], each["errors"], strict=True)]
        for each in results["forced priors"]
    ]
    return table(["drawn under a forced prior", "releases", "50 %", "90 %", "95 %"], rows)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; all columns but the first are numbers."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def fixed_truths(results: dict[str, Any], kind: str) -> str:
    """Return how often each reading covers shares of one kind, setting by setting, and over all of them."""
    rows, columns = [], {name: [] for name in READINGS}  # type: tuple[list[list[str]], dict[str, list[float]]]
    for entry in results["fixed truths"]:
        row = [
            entry["setting"],
            " / ".join(str(entry[name]["releases"]) for name in ("own", "learnt") if name in entry),
        ]
        for name, shares in columns.items():
            covered, of = entry[name][kind] if name in entry else (0, 0)
            row.append(percent(covered / of) if of else "-")
            shares += [covered / of] if of else []
        rows.append(row)
    for word, of_all in (("mean", np.mean), ("lowest", np.min), ("highest", np.max)):
        rows.append([f"**{word}**", "", *(percent(float(of_all(shares))) for shares in columns.values())])
    return table([kind, "releases", *READINGS.values()], rows)


def ranks(results: dict[str, Any]) -> str:
    """Return coverage over the prior and the uniformity of ranks, setting by setting."""
    rows = []
    for entry in results["ranks"]:
        aware, naive = entry["aware"], entry["plug-in"]
        shown = [f"{percent(aware['covers'])} ± {percent(aware['error'])}", f"{aware['p']:.2g}"]
        rows.append([entry["setting"], str(entry["data sets"]), *shown, percent(naive["covers"]), f"{naive['p']:.1g}"])
    return table(["read", "data sets", "`infer` covers, %", "ranks, p", "plug-in covers, %", "ranks, p"], rows)


def skewed_truths(results: dict[str, Any], sweep: str) -> str:
    """Return how often intervals of 50, 90 and 95 % hold each quantity, with standard errors, and how wide they are."""
    rows = []
    for entry in results[sweep]:
        for name, found in entry["quantities"].items():
            quantity, setting = name.removesuffix(f", {entry['setting']}"), entry["setting"]
            if sweep == "skewed-numbers":  # the quantity of the records or the population, then the setting and a group
                words = name.split(", ")
                quantity, setting = ", ".join(words[:2]), ", ".join(words[2:])
            shares, count = found["covers"], found["releases"]
            shown = [f"{percent(share)} ± {percent((share * (1 - share) / count) ** 0.5)}" for share in shares]
            rows.append([f"{quantity}: {setting}", str(count), *shown, f"{found['width']:.3g}"])
    order = sorted(range(len(rows)), key=lambda place: (rows[place][0].split(":")[0], place))
    return table(["quantity", "releases", "50 %", "90 %", "95 %", "width, 90 %"], [rows[place] for place in order])


def joint(results: dict[str, Any]) -> str:
    """Return how often intervals of the joint table hold cells and margins, and distances over that of the noise."""
    rows = []
    for entry in results["joint tables"]:
        shown = []
        for kind in ("cells", "margins"):
            pairs = zip(*(own[:2] for own in entry.get(kind, [])), strict=True)
            shown += [f"{percent(share)} ± {percent(error)}" for share, error in pairs] or ["-", "-"]
        distance = entry["distance"]
        figures = [f"{distance['mean']:.2f}", f"{distance['closest']:.2f}", f"{entry['r_hat']:.2f}"]
        rows.append([f"joint table: {entry['setting']}", str(entry["releases"]), *shown, *figures])
    heads = ["cells, 50 %", "cells, 90 %", "margins, 50 %", "margins, 90 %", "mean", "closest", "R-hat"]
    return table(["all cells together", "releases", *heads], rows)


def kinds_of_intervals() -> str:
    """Return every kind of interval, and the line that measures it."""
    rows = [[f"`{kind}`", MEASURED[kind]] for kind in kinds()]
    return table(["kind of interval", "measured by the line"], rows).replace("---:", "---")


def tables(results: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page, by the name that stands above each."""
    return {
        "margins": fixed_truths(results, "margins"),
        "cells": fixed_truths(results, "cells"),
        "joint": joint(results),
        "ranks": ranks(results),
        "forced": forced_priors(results),
        "skewed numbers": skewed_truths(results, "skewed-numbers"),
        "skewed rates": skewed_truths(results, "skewed-rates"),
        "skewed others": skewed_truths(results, "skewed-others"),
        "skewed differences": skewed_truths(results, "skewed-differences"),
        "skewed networks": skewed_truths(results, "skewed-networks"),
        "secret size": skewed_truths(results, "skewed-secret-size"),
        "weighted regression": skewed_truths(results, "skewed-regression"),
        "synthesis": skewed_truths(results, "skewed-synthesis"),
        "kinds": kinds_of_intervals(),
    }


def marked(name: str, lines: str) -> str:
    """Return a table between its marks."""
    return f"<!-- {name}: made by validation/calibration_page.py -->\n{lines}\n<!-- end of {name} -->"


def written(page: str, results: dict[str, Any]) -> str:
    """Return a page whose tables are those of the results."""
    for name, lines in tables(results).items():
        before, rest = page.split(marked(name, "").split("\n")[0])
        after = rest.split(f"<!-- end of {name} -->")[1]
        page = before + marked(name, lines) + after
    return page


def main(word: str) -> None:
    """Collect results, or write the page."""
    if word == "collect":
        earlier = json.loads(COLLECTED.read_text("utf-8")) if COLLECTED.exists() else {"fixed truths": [], "ranks": []}
        write(COLLECTED, collected(earlier), indent=1)
    elif word == "write":
        results = json.loads(COLLECTED.read_text("utf-8"))
        PAGE.write_text(written(PAGE.read_text("utf-8"), results), encoding="utf-8")
    else:
        raise SystemExit(str(__doc__))


if __name__ == "__main__":
    main(Path(sys.argv[-1]).name)
