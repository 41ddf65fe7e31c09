"""How a folder of documents was made, kept to be read. A folder is made once, and never made again.

    PYTHONPATH=src:tests python tests/documents/make_corpus.py before-house

writes the folder that is named: a release of every form of document, by every kind of mechanism, model and program,
published on a ledger where that is allowed and simulated where a guarantee is only claimed; ledgers with every kind of
entry under every accountant; signatures and heads, whose private key is thrown away; one study for every model; and
`expected.json`, what the code of that day said of them. A folder that exists is left alone: its documents can no longer
be made by any other code, and that is their worth. All records are made up.
"""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from corpus_cases import CASES, CONTINUED, PATIENTS, PROGRAMS, SIZE, form, graph
from corpus_studies import DRAWN, FROM_ELSEWHERE, HALVES, PUBLISHED, STUDIES, TABLE

import discreet as dc
from discreet.inference import why_unreadable
from discreet.ledger import Head, SigningKey
from discreet.ledger._entries import PARTS
from discreet.privacy import RECORD, Sum
from discreet.release import mechanism_document
from frozen_documents import (
    EXPECTED,
    HERE,
    KEY,
    answers,
    asked,
    declared,
    held,
    inferred,
    known,
    models_asked,
    promised,
    totals,
)

PLANNED = ("geometric-one", "gaussian-histogram", "laplace")
IN_GROUPS = ("geometric-one", "families-naive")
FOR_PATIENTS = ("geometric-wards", "gaussian-counts", "laplace")
PER_UNIT = ("paths", "metric-sums", "levels-on-a-tree")
REHEARSED = ("sums-largest", "sums-every-row", "cells-of-persons", *list(PROGRAMS)[1:])
"""Cases that are only simulated, as others like them are published; nobody publishes by an earlier version."""
MADE_UP = "made-up patients"


def neighbouring_tables(model: Any) -> list[list[int]]:
    """Return the statistics of the made-up patients, and of the same patients with the first one replaced."""
    replaced = {name: [values[1], *values[1:]] for name, values in PATIENTS.items()}
    return [[int(number) for number in model.statistics(data).open_for_publishing()] for data in (PATIENTS, replaced)]


def needed() -> list[str]:
    """Return the first case of every form, and those that every folder has."""
    held, found = set(), []
    for name, mechanism in CASES.items():
        own = form(json.loads(json.dumps(mechanism_document(mechanism))))
        if own not in held or name in CONTINUED:
            found.append(name)
        held.add(own)
    return found


class Corpus:
    """The folder of one version, and what is said of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.heads = folder, folder / "heads"
        self.releases: dict[str, Any] = {}
        self.ledgers: dict[str, Any] = {}
        self.forms: set[object] = set()
        self.key = SigningKey.new("Office of made-up statistics")
        for each in (folder / "releases", folder / "studies", self.heads):
            each.mkdir(parents=True)
        self.key.public.save(folder / KEY)

    def keep(self, name: str, release: dc.Release) -> None:
        """Write a release and what is said of it: all of it if it is the first that is written in this form.

        A program is for the reader: what is promised does not depend on it.
        """
        (self.folder / "releases" / f"{name}.json").write_text(release.to_json(), "utf-8")
        document: Any = json.loads(json.dumps(mechanism_document(release.mechanism)))
        law = document | {"model": "of a table"} if "program" in document["model"] else document
        tables = neighbouring_tables(release.mechanism.model)
        said: dict[str, Any] = {"kind": document["kind"], "digest": release.digest, "counts": tables[0]}
        if form(law) not in self.forms:
            said |= {"promised": promised(release, tables)}
        if form(document) not in self.forms:
            said |= {"prior": None, "inferred": inferred(release)}
            print(f"{process_time():6.1f} s", name, said["inferred"].get("method", "refused"))
        self.forms |= {form(document), form(law)}
        self.releases[name] = said

    def on(self, ledger: dc.Ledger) -> dict[str, Any]:
        """Return what is said of a ledger."""
        found: dict[str, Any] = self.ledgers.setdefault(ledger.path.name, {"releases": [], "requests": {}})
        return found

    def publish(self, ledger: dc.Ledger, prefix: str, names: Sequence[str], **how: Any) -> None:
        """Publish cases on a ledger, each under a request of its own."""
        for name in names:
            mechanism, kept = CASES[name], f"{prefix}{name}"
            secret = mechanism.model.statistics(PATIENTS)
            release = dc.publish(mechanism, secret, ledger, f"patients, {kept}", request=kept, data=TABLE, **how)
            self.keep(kept, release)
            self.on(ledger)["releases"].append(kept)
            self.on(ledger)["requests"][kept] = [kept, TABLE]

    def plan(self, ledger: dc.Ledger, prefix: str, **how: Any) -> None:
        """Publish a plan."""
        chosen = [CASES[name] for name in PLANNED]
        secrets, labels = [each.model.statistics(PATIENTS) for each in chosen], [f"planned, {n}" for n in PLANNED]
        plan = dc.Plan(chosen, "1e-6")
        releases = dc.publish_plan(plan, secrets, ledger, labels, request="plan", **how)
        for name, release in zip(PLANNED, releases, strict=True):
            self.keep(f"{prefix}{name}", release)
            self.on(ledger)["releases"].append(f"{prefix}{name}")

    def create(self, name: str, epsilon: int, delta: str = "0", **how: Any) -> dc.Ledger:
        """Create a ledger of the made-up patients."""
        return dc.Ledger.create(self.folder / f"{name}.ledger", epsilon, delta, MADE_UP, **how)


def fill(corpus: Corpus) -> None:
    """Publish what may be published, and rehearse what is only claimed."""
    names = needed()
    claimed = [name for name in names if CASES[name].guarantee.evidence is dc.privacy.Evidence.CLAIMED]
    public = [name for name in names if name not in (*claimed, *REHEARSED)]
    persons = [name for name in public if CASES[name].model.protects != RECORD]
    ledger = corpus.create("basic", 170, "0.1")
    unread = [name for name in public if why_unreadable(CASES[name]) is not None]
    corpus.publish(ledger, "", [name for name in public if name not in (*persons, *unread)])
    corpus.publish(ledger, "", unread, reading="none")
    Head.of(ledger).signed(corpus.key).file(corpus.heads)
    ledger.change_limit(200, reason="a plan is to be published, too")
    corpus.plan(ledger, "basic-plan-")
    mechanism = CASES["geometric-one"]
    document = mechanism_document(mechanism)
    ledger.charge(mechanism.guarantee, "charged in vain", document)
    ledger.charge(mechanism.guarantee, "given up", document, "given-up-geometric-one", data=TABLE)
    corpus.publish(ledger, "given-up-", ["geometric-one"])
    corpus.publish(ledger, "no-reading-", ["laplace"], reading="none")
    secret = mechanism.model.statistics(PATIENTS)
    corpus.keep("signed", dc.publish(mechanism, secret, ledger, "signed").signed(corpus.key))
    corpus.on(ledger)["releases"].append("signed")
    Head.of(ledger).file(corpus.heads)
    corpus.publish(corpus.create("persons", 20, unit=dc.Unit("one person")), "", persons)
    for name in (*claimed, *REHEARSED, "geometric-wards"):
        made_up = np.array(neighbouring_tables(CASES[name].model)[0])
        corpus.keep(f"simulated-{name}", dc.simulate(CASES[name], made_up, dc.SeededBits(7), f"rehearsal, {name}"))


def fill_others(corpus: Corpus) -> None:
    """Publish under other rules: zCDP, groups, an allowance for every period, metrics; and move."""
    unit, groups = dc.Unit("one patient", rows=2), ("north", "south")
    ledger = corpus.create("zcdp", 24, "1e-5", unit=unit, accountant="zcdp")
    corpus.publish(ledger, "zcdp-", FOR_PATIENTS, unit=unit)
    corpus.plan(ledger, "zcdp-plan-", unit=unit)
    ledger.change_limit(32, reason="a second year")
    ledger = corpus.create("exchange", 20, groups=groups)
    corpus.publish(ledger, "exchange-north-", IN_GROUPS, group="north")
    corpus.publish(ledger, "exchange-south-", IN_GROUPS[:1], group="south")
    corpus.publish(ledger, "exchange-all-", IN_GROUPS[1:])
    within = dc.privacy.Adjacency.REPLACE_WITHIN_GROUP
    ledger = corpus.create("quarters", 20, groups=groups, adjacency=within, per="quarter", allowance="5")
    corpus.publish(ledger, "quarters-north-", IN_GROUPS[:1], group="north")
    corpus.publish(ledger, "quarters-", IN_GROUPS[:1])
    ledger = corpus.create("metric", 2, metric=Sum([CASES[name].metric for name in PER_UNIT]))
    corpus.publish(ledger, "metric-", [*PER_UNIT, "geometric-wards"])
    ledger = corpus.create("metric-groups", 1, metric=CASES["paths-of-groups"].metric)
    corpus.publish(ledger, "metric-", ["paths-of-groups"])
    with TemporaryDirectory(prefix="made-up-hospital-") as elsewhere:  # an entry names where it is
        ledger = dc.Ledger.create(Path(elsewhere) / "moved.ledger", 20, population=MADE_UP)
        corpus.publish(ledger, "moved-", IN_GROUPS[:1])
        arrived = ledger.move(Path(elsewhere) / "arrived.ledger")
        corpus.on(arrived)["releases"].append("moved-geometric-one")
        corpus.on(arrived)["requests"]["moved-geometric-one"] = ["moved-geometric-one", TABLE]
        corpus.publish(arrived, "arrived-", IN_GROUPS[:1])
        for each in (ledger, arrived):
            shutil.copyfile(each.path, corpus.folder / each.path.name)


def write_studies(folder: Path) -> dict[str, Any]:
    """Write all study files with what they name, and publish one of them; return what is said of them."""
    rows = list(zip(*PATIENTS.values(), strict=True))
    files = {TABLE: (rows, ","), HALVES[0]: (rows[: SIZE // 2], "\t"), HALVES[1]: (rows[SIZE // 2 :], "\t")}
    for name, (some, mark) in files.items():
        table = "\n".join([mark.join(PATIENTS), *(mark.join(map(str, row)) for row in some)])
        (folder / name).write_text(table + "\n", "utf-8")
    (folder / "graph.bif").write_text(graph.to_bif(), "utf-8")
    for name, text in STUDIES.items():
        (folder / name).write_text(text, "utf-8")
    studies, declarations = {}, {}
    for name in STUDIES:
        study = dc.Study(folder / name)
        studies[name] = {question: asked(each) for question, each in study.questions.items()}
        with TemporaryDirectory() as copy:  # where its ledger is made
            place = shutil.copytree(folder, Path(copy) / "studies")
            declarations[name] = declared(dc.Study(place / name))
    said = {"studies": studies, "declarations": declarations}
    drawn = dc.Study(folder / DRAWN)
    for query in ("everything", "smoking"):  # a draw of each question, of which all others are asked
        drawn.ask(query)
    return said | {"published": {name: answers(dc.Study(folder / name), FROM_ELSEWHERE) for name in (PUBLISHED, DRAWN)}}


def in_lines(part: object) -> str:
    """Return what is said as JSON, with a line for each document."""
    if not isinstance(part, dict):
        return json.dumps(part)
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in part.items()) + "}"


def main() -> None:
    """Write the folder that is named."""
    folder = HERE / sys.argv[1]
    if folder.exists():
        sys.exit(f"{folder.name} was made before, and is never made again.")
    corpus = Corpus(folder)
    said = write_studies(folder / "studies")
    fill(corpus)
    fill_others(corpus)
    for name, each in corpus.ledgers.items():
        each["totals"] = totals(dc.Ledger.open(folder / name))
    EXPECTED[folder.name] = {"releases": corpus.releases, "ledgers": corpus.ledgers}
    kinds, entries = held(folder.name), {kind for each in corpus.ledgers.values() for kind in each["totals"]["entries"]}
    lacking = {("entry", kind, 1) for kind in set(PARTS) - entries}
    if missing := known().difference(*map(held, EXPECTED)) | lacking:
        sys.exit(f"{folder.name} lacks {sorted(missing)}. Remove it, add cases, and make it anew.")
    expected = {
        "software": f"discreet {dc.__version__}",
        "level": 0.9,
        "kinds": sorted(kinds),
        "entries": sorted(entries),
        "study_models": sorted(models_asked(folder)),
        "releases": corpus.releases,
        "ledgers": corpus.ledgers,
        **said,
    }
    parts = [f"{json.dumps(name)}: {in_lines(part)}" for name, part in expected.items()]
    (folder / "expected.json").write_text("{" + ",\n".join(parts) + "}\n", "utf-8")


if __name__ == "__main__":
    main()
