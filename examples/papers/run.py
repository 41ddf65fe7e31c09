"""Take the studies of the papers along the whole road: write made-up records, publish, verify, read, ask.

python examples/papers/run.py [FOLDER] [PAPER ...]
"""

import sys
import warnings
from pathlib import Path
from shutil import copy

import numpy as np

import discreet as dc

HERE = Path(__file__).parent
PAPERS = ("000", "001", "002", "003", "004")


def write_records(folder: Path) -> None:
    """Write the records of all studies; they are made up, with one seed for each file."""
    coins = np.random.default_rng(1).choice(["heads", "tails"], 100, p=[0.7, 0.3])
    _write(folder / "coins.csv", coin=coins)
    _write(folder / "levels.csv", level=np.random.default_rng(2).choice(list("abcd"), 600, p=[0.4, 0.3, 0.2, 0.1]))
    generator = np.random.default_rng(3)
    falls = generator.poisson(0.7, 200)
    _write(
        folder / "wards.csv",
        ward=generator.choice(["A", "B"], 200, p=[0.6, 0.4]),
        fall=np.where(falls > 0, "yes", "no"),
        falls=falls,
    )
    generator = np.random.default_rng(4)
    ill, age = generator.random(50) < 0.4, generator.random(50)
    _write(
        folder / "patients.csv",
        ill=np.where(ill, "yes", "no"),
        cough=np.where(generator.random(50) < np.where(ill, 0.8, 0.3), "yes", "no"),
        fever=np.where(generator.random(50) < np.where(ill, 0.7, 0.1), "yes", "no"),
        age=age.round(3),
        stay=np.clip(0.5 * age + generator.normal(0, 0.2, 50), 0, 1).round(3),
    )


def _write(path: Path, **columns: object) -> None:
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def follow(folder: Path, paper: str) -> list[str]:
    """Publish every question of a paper's study, verify and read it, and answer its queries; say what came of it."""
    copy(HERE / f"{paper}.toml", folder)
    study, said = dc.Study(folder / f"{paper}.toml"), []
    for name in study.questions:
        release = study.publish(name)
        certificate = dc.verify(release, study.ledger())
        kind = type(release.mechanism).__name__
        said.append(f"{paper} {name}: {kind}, epsilon = {float(certificate.guarantee.epsilon):g}")
        said.append(f"  {read_first_row(release)}")
    for name in study.queries:
        answer = study.ask(name, draw=1) if study.draws(study.query(name).question).made else study.ask(name)
        said.append(f"{paper} {name}: {answer}")
    return said


def read_first_row(release: dc.Release) -> str:
    """Return the first row of the posterior, or that there is none."""
    if release.reading == "none":
        return "no posterior can be read from it, as its study says"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        row = dc.infer(release).rows(0.9)[0]
    return f"{row.quantity} {row.given}: {row.mean:.3g}, 90% interval {row.low:.3g} to {row.high:.3g}"


def main(folder: Path, papers: tuple[str, ...] = PAPERS) -> None:
    """Follow the studies of these papers in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_records(folder)
    for paper in papers:
        print("\n".join(follow(folder, paper)))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "papers-studies"), tuple(sys.argv[2:]) or PAPERS)
