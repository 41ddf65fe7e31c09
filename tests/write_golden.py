"""Write tests/golden: what users of the library rely on, as text, so that a merge shows what it changes of that.

    make golden

`names.txt` has the public names with their parameters, `study-keys.txt` every key that a study file accepts,
`commands.txt` every command with its options, `kinds.txt` what the registries hold, and `readings.json` what `discreet
infer --json` says of the releases in tests/documents. tests/golden/test_golden.py compares. Only what this library
defines itself is listed, whatever other programs and tests have registered beside it.

A number of a reading that is the same as the one on file within its stated error is left as it is on file, so that
another machine writes the same text.
"""

import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from math import sqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import numpy as np
from click.testing import CliRunner

import discreet as dc
from discreet._core import kinds as kinds_module
from discreet.cli._main import main as discreet_command
from discreet.inference._solvers import SOLVERS
from discreet.ledger._entries import PARTS
from discreet.mechanism import Declared, Model, Sized
from discreet.privacy import Metric
from discreet.programs import Program
from discreet.study import KINDS, Maker
from discreet.study._file import (
    QUERY_KEYS,
    QUESTION_KEYS,
    DeclaredBudget,
    DeclaredColumn,
    DeclaredData,
    DeclaredServe,
    DeclaredStudy,
)
from discreet.study._mechanisms import constructors_of, own_maker
from discreet.study._models import asked_models, model_maker

GOLDEN = Path(__file__).parent / "golden"
CORPUS = Path(__file__).parent / "documents" / "before-house"
READINGS = "readings.json"
SIMULATED = {
    name: GOLDEN / f"{name}.release.json"
    for name in ("crossed", "normal-mean", "exponential", "places", "bulk", "everything")
}
"""Releases of what the corpus has none of: a table, two families, chosen places, a weighted regression, a synthesis."""
MORE: dict[str, tuple[str, ...]] = {
    "a table of two columns": ("crossed",),
    "a draw of a normal mean": ("normal-mean",),
    "a draw of an exponential rate": ("exponential",),
    "a median at chosen places": ("places",),
    "a weighted regression": ("bulk",),
    "all columns at once": ("everything",),
    "rates in groups": ("crossed", "--event", "fall=yes", "--by", "ward", "--pool", "--differ"),
    "a margin": ("crossed", "--margin", "ward"),
    "a logistic regression of a table": ("crossed", "--model", "fall ~ ward"),
    "groups of a network": ("families-naive", "--event", "cough=yes", "--by", "smoker"),
    "a statement": ("geometric-one", "--that", "yes > 0.3"),
    "another level and prior": ("geometric-one", "--level", "0.5", "--prior", "2"),
    "a learnt prior": ("geometric-wards", "--prior", "learnt"),
    "several releases": ("geometric-wards", "laplace"),
}
"""Readings with options, beside those of every form of document."""
ROW = ("mean", "low", "high", "numerical_error", "monte_carlo_error")
DIGITS = 12  # significant, in text
SAFELY = 3.0  # times the stated numerical error, as what is on file and what is found may both be off by that
CHANCE = 5.0  # standard errors of a Monte Carlo mean that are allowed between two readings
CLOSE = 1e-9  # of tests by rank among public draws, which state no error: the same draws, and rounding
ROUGH = 0.1  # of the width of intervals that come from 4,000 draws or more and state no error
EVIDENCE = 1e-6  # of the log evidence where it is computed and not drawn


def is_own(made: object) -> bool:
    """Tell whether something is of this library."""
    return str(getattr(made, "__module__", "")).partition(".")[0] == "discreet"


def names() -> Iterator[str]:
    """Yield every public name: of the front door, and of each room, with the names of its parameters."""
    yield from (_with_parameters(f"discreet.{name}", getattr(dc, name)) for name in dc.__all__)
    for found in pkgutil.iter_modules(dc.__path__):
        room = importlib.import_module(f"discreet.{found.name}")
        for name in _public(room):
            yield _with_parameters(f"{room.__name__}.{name}", getattr(room, name))


def _public(room: ModuleType) -> Sequence[str]:
    """Return the names that a room lists; a single file among the rooms lists those that it defines."""
    if hasattr(room, "__all__"):
        return sorted(room.__all__)
    is_shown = room.__name__.partition(".")[2] in dir(dc) and not hasattr(room, "__path__")
    defined = {name for name, each in vars(room).items() if getattr(each, "__module__", "") == room.__name__}
    return sorted(name for name in defined if is_shown and not name.startswith("_"))


def is_protocol(made: type) -> bool:
    """Tell whether a class is a protocol, which nobody calls."""
    return bool(getattr(made, "_is_protocol", False))


def _with_parameters(name: str, made: object) -> str:
    is_plain = isinstance(made, type) and (issubclass(made, Enum | BaseException | dict) or is_protocol(made))
    if not callable(made) or not is_own(made) or is_plain:  # what Python itself says of those changes with its version
        return name
    found = list(inspect.signature(made).parameters.values())
    stars: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    shown = [stars.get(each.kind, "") + each.name + ("=" if each.default is not each.empty else "") for each in found]
    return f"{name}({', '.join(shown)})"


def study_keys() -> Iterator[str]:
    """Yield every key that a study file accepts; a star marks those that must be there."""
    tables = {"data": DeclaredData, "columns.NAME": DeclaredColumn, "budget": DeclaredBudget, "serve": DeclaredServe}
    yield f"{', '.join(f'[{name}]' for name in DeclaredStudy.__struct_fields__)}"
    for name, made in tables.items():
        yield f"[{name}] {', '.join(made.__struct_fields__)}"
    yield f"[questions.NAME] {', '.join(sorted(QUESTION_KEYS))}"
    yield f"[queries.NAME] {', '.join(sorted(QUERY_KEYS))}"
    nothing = Declared({}, {}, Path())
    for name, asked in asked_models().items():
        if is_own(asked.make):
            yield f"model = {name!r}: {_keys(model_maker(name, nothing))}"
    for kind, mechanism in Sized.registered().items():
        if is_own(mechanism):
            for way in constructors_of(mechanism):
                written = f"{kind}.{way}" if way else kind
                maker = own_maker(written)
                assert maker is not None
                yield f"mechanism = {written!r}: {_keys(maker)}"
    for name, query in KINDS.items():
        yield f"kind = {name!r}: {_keys(Maker(name, query, {}))}"


def _keys(maker: Maker[Any]) -> str:
    return ", ".join(key + ("*" if each.default is each.empty else "") for key, each in maker.keys.items()) or "-"


def commands() -> Iterator[str]:
    """Yield every command and every option with its type and default."""
    yield from _commands("discreet", discreet_command)


def _commands(path: str, command: click.Command) -> Iterator[str]:
    words = [_parameter(each) for each in command.params]
    yield f"{path}{''.join(f'{chr(10)}    {word}' for word in words)}"
    if isinstance(command, click.Group):
        own = {*command.commands, *getattr(command, "on_demand", ())}  # not what other distributions add
        for name in sorted(own):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from _commands(f"{path} {name}", found)


def _parameter(found: click.Parameter) -> str:
    if isinstance(found, click.Argument):
        return f"{found.human_readable_name}{'...' if found.nargs == -1 else ''}: {_type(found)}"
    assert isinstance(found, click.Option)
    said = _type(found) if not found.is_flag else "flag"
    said += ", required" * found.required + ", repeated" * found.multiple
    is_usual = found.default is None or found.default is False or callable(found.default) or found.multiple
    usual = "" if is_usual or "UNSET" in str(found.default).upper() else f", default {found.default}"
    return f"{', '.join((*found.opts, *found.secondary_opts))}: {said}{usual}"


def _type(found: click.Parameter) -> str:
    if isinstance(found.type, click.Choice):
        return " | ".join(map(str, found.type.choices))
    return str(found.type.name)


def kinds() -> Iterator[str]:
    """Yield what the registries hold: kinds of documents with version and fields, and who reads them."""
    registries = {"mechanism": dc.Mechanism, "model": Model, "program": Program}
    for home in {home for homes in kinds_module.KINDS.values() for home in homes.values()}:
        importlib.import_module(home)  # whatever this process has used so far
    for sort, registry in registries.items():
        made = [*registry.kinds.newest.values(), *registry.kinds.earlier.values()]
        for each in sorted(
            (each for each in made if is_own(each)), key=lambda e: (e.document_kind, e.document_version)
        ):
            said = ", ".join(field.name for field in fields(each) if field.init)  # type: ignore[arg-type]
            yield f"{sort} {each.document_kind}, version {each.document_version}: {said}"
    for name, metric in sorted(Metric.kinds.items()):
        if is_own(metric):
            yield f"metric {name}"
    for name, parts in sorted(PARTS.items()):
        yield f"entry of a ledger {name}: {', '.join(sorted(parts))}"
    for model, solvers in SOLVERS.items():
        yield f"solvers of {model.rpartition('.')[2]}: {', '.join(name.rpartition('.')[2] for name in solvers)}"


TEXTS: dict[str, Callable[[], Iterator[str]]] = {
    "names.txt": names,
    "study-keys.txt": study_keys,
    "commands.txt": commands,
    "kinds.txt": kinds,
}


def text_of(name: str) -> str:
    """Return one of the texts as the library has it now."""
    return "".join(f"{line}\n" for line in TEXTS[name]())


def asked() -> dict[str, tuple[str, ...]]:
    """Return the arguments of every reading: each form of document of the corpus, and some options."""
    said = json.loads((CORPUS / "expected.json").read_text("utf-8"))["releases"]
    return {name: (name,) for name in said if "inferred" in said[name]} | MORE


def path_of(name: str) -> Path:
    """Return where a release stands."""
    return SIMULATED.get(name, CORPUS / "releases" / f"{name}.json")


@cache
def command_answer(name: str) -> dict[str, Any]:
    """Return the document that `discreet infer --json` prints."""
    words = [str(path_of(word)) if path_of(word).exists() else word for word in asked()[name]]
    found = CliRunner().invoke(discreet_command, ["infer", *words, "--json"])
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


def reading(name: str) -> dict[str, Any]:
    """Return what is kept of an answer: its words, the names of all that it holds, and the numbers of its rows.

    Digits in the words of a method or a warning are numbers of that run, and left out.
    """
    answer = command_answer(name)
    if "error" in answer:
        return {"error": _without_numbers(answer["error"]), "exit_code": answer["exit_code"]}
    kept = {key: answer[key] for key in ("label", "simulated", "size", "epsilon", "delta", "mechanism", "level")}
    kept |= {"method": _without_numbers(answer["method"]), "warnings": [*map(_without_numbers, answer["warnings"])]}
    kept |= {"holds": sorted(answer), "each_row_holds": list(answer["rows"][0])}
    kept |= {"log_evidence": answer["log_evidence"], "log_evidence_error": answer.get("log_evidence_error")}
    shown = [*answer["rows"], *answer["event"], *answer["groups"]]
    return kept | {"rows": [_plain_row(row) for row in shown]}


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    given = f" | {row['given']}" if row.get("given") else ""
    numbers = {key: None if row.get(key) is None else float(f"{row[key]:.{DIGITS}g}") for key in ROW}
    return {"quantity": f"{row['quantity']}{given}", "unit": row.get("unit"), **numbers}


def _without_numbers(words: str) -> str:
    return re.sub(r"\d[\d,.]*(e-?\d+)?", "#", words)


def differences(now: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    """Return in words how a reading differs from the one that is kept, by more than both state."""
    numbers = ("rows", "log_evidence", "log_evidence_error")
    plain = [key for key in sorted({*now, *kept} - set(numbers)) if now.get(key) != kept.get(key)]
    found = [f"{key}: {kept.get(key)!r} became {now.get(key)!r}" for key in plain]
    if "error" in now or "error" in kept:
        return found
    if [row["quantity"] for row in now["rows"]] != [row["quantity"] for row in kept["rows"]]:
        return [*found, "the quantities are others"]
    for new, old in zip(now["rows"], kept["rows"], strict=True):
        for key in ("mean", "low", "high"):
            allowed = tolerance(new, old, key)
            if abs(new[key] - old[key]) > allowed:
                found.append(f"{key} of {new['quantity']}: {old[key]!r} became {new[key]!r}, allowed is {allowed:.1g}")
        if new["unit"] != old["unit"] or [new[key] is None for key in ROW] != [old[key] is None for key in ROW]:
            found.append(f"{new['quantity']} has another unit, or states another error")
    is_drawn = now["log_evidence_error"] is not None
    error = CHANCE * sqrt(2) * now["log_evidence_error"] if is_drawn else EVIDENCE
    new, old = now["log_evidence"], kept["log_evidence"]
    if (new is None) != (old is None) or (new is not None and abs(new - old) > error):
        found.append(f"log_evidence: {old!r} became {new!r}, allowed is {error:.1g}")
    return found


def tolerance(new: Mapping[str, Any], old: Mapping[str, Any], key: str) -> float:
    """Return how far a number may be from the one on file: by what both rows state, and what the text leaves out.

    The ends of an interval have about twice the Monte Carlo error of the mean, as a row says of itself.
    """
    text: float = 10.0 ** (1 - DIGITS) * max(1.0, abs(old[key]))
    largest: float = max(1.0, *(abs(old[each]) for each in ("mean", "low", "high")))
    if new["monte_carlo_error"] is not None and old["monte_carlo_error"] is not None:
        error = sqrt(float(new["monte_carlo_error"]) ** 2 + float(old["monte_carlo_error"]) ** 2)
        return CHANCE * error * (1 if key == "mean" else 2) + text
    if new["numerical_error"] is not None and old["numerical_error"] is not None:
        return SAFELY * max(float(new["numerical_error"]), float(old["numerical_error"])) + text
    if old["unit"] == "probability" and key != "mean":  # ends that are drawn, of networks and of their events
        return ROUGH * float(old["high"] - old["low"])
    return CLOSE * largest


def readings(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return all readings; one that is as it was within its error is left as it is on file."""
    found = {name: reading(name) for name in asked()}
    return {name: kept[name] if name in kept and not differences(now, kept[name]) else now
            for name, now in found.items()}  # fmt: skip


def lines_of(found: Mapping[str, Any]) -> str:
    """Return readings as JSON with one line for each row."""
    parts = []
    for name, each in found.items():
        head = {key: value for key, value in each.items() if key != "rows"}
        rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in each.get("rows", ()))
        more = f',\n "rows": [\n{rows}\n ]' if "rows" in each else ""
        said = ",\n".join(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items())
        parts.append(f"{json.dumps(name)}: {{\n{said}{more}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def kept_readings() -> dict[str, Any]:
    """Return the readings on file."""
    place = GOLDEN / READINGS
    found: dict[str, Any] = json.loads(place.read_text("utf-8")) if place.exists() else {}
    return found


def simulated() -> dict[str, dc.Release]:
    """Return made-up releases of what the corpus has none of. Once written they stay."""
    columns = [dc.Column("ward", ("A", "B", "C"), "A"), dc.Column("fall", ("no", "yes"), "no")]
    drawn = dc.draws.PosteriorSampling
    ages = dc.NumberQuantiles("age", (0, 100), ("0.5",), missing=40, is_whole=True)
    mean, stays = (
        dc.NormalMean("weight", low=40, high=120, variance=100, outside="usual"),
        dc.ExponentialRate("days", 20, outside="usual"),
    )
    stay = dc.WeightedRegression("stay", ["age"], {"stay": (0, 10), "age": (0, 100)})
    made: dict[str, tuple[dc.Mechanism, list[int]]] = {
        "crossed": (dc.GeometricHistogram(dc.Categories(columns), 240, 1), [95, 25, 60, 20, 30, 10]),
        "normal-mean": (
            drawn.tempered(mean, size=3, epsilon=1, delta="1e-3", grid_bits=6),
            _levels(mean, (30, 31, 40)),
        ),
        "exponential": (drawn.tempered(stays, size=3, epsilon=1, delta="1e-3", grid_bits=6), _levels(stays, (2, 5, 9))),
        "bulk": (dc.BallMoments(stay, 300, 4), stay.simulate(300, np.random.default_rng(1)).statistics.tolist()),
        "everything": (dc.PairGaussians(dc.Synthesis(columns), 240, 1, "1e-3"), [95, 25, 60, 20, 30, 10]),
        "places": (dc.numbers.ChosenCounts(ages, 200, 4), [4 * (30 <= age < 80) for age in range(101)]),
    }
    bits = dc.SeededBits(1)
    return {name: dc.simulate(mechanism, counts, bits) for name, (mechanism, counts) in made.items()}


def _levels(model: Any, records: Sequence[int]) -> list[int]:
    return [records.count(level) for level in range(len(model.cells))]


def main() -> None:
    """Write all files, and say which of them changed."""
    GOLDEN.mkdir(exist_ok=True)
    missing = [name for name, place in SIMULATED.items() if not place.exists()]
    for name, release in (simulated() if missing else {}).items():
        if name in missing:
            SIMULATED[name].write_text(release.to_json(), "utf-8")
    texts = {name: text_of(name) for name in TEXTS} | {READINGS: lines_of(readings(kept_readings()))}
    for name, text in texts.items():
        place = GOLDEN / name
        is_same = place.exists() and place.read_text("utf-8") == text
        place.write_text(text, "utf-8")
        print(f"{name}: {'as it was' if is_same else 'written'}, {len(text.splitlines())} lines", file=sys.stderr)


if __name__ == "__main__":
    main()
