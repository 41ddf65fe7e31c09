"""All columns at once, as one question of a study: 50 columns and a million rows, from the file to synthetic records.

    python benchmarks/all_columns.py [--columns 50] [--rows 1000000] [--classes 12]

Records are made by classes in which columns are independent, with 2 to 8 levels each, and written as a Parquet file in
a temporary folder. Publishing counts all pairs in the engine, charges the ledger, and runs all steps with exact
samplers; reading fits the model. The CPU time of each step is that of this process; memory is the largest so far.
"""

import argparse
import resource
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from figures import record

import discreet as dc

GOAL_SECONDS, GOAL_GIB = 180.0, 2.0


def written(columns: int, rows: int, classes: int, path: Path) -> list[int]:
    """Write the records, and return how many levels each column has."""
    import pyarrow as pa
    from pyarrow import parquet

    generator = np.random.default_rng(20_261_120)
    which = generator.choice(classes, size=rows, p=generator.dirichlet(np.full(classes, 3.0)))
    levels = [2 + index % 7 for index in range(columns)]
    made = {}
    for index, count in enumerate(levels):
        tops = generator.dirichlet(np.full(count, 0.7), size=classes).cumsum(axis=1)
        codes = (generator.random(rows)[:, None] > tops[which][:, :-1]).sum(axis=1)
        made[f"c{index:02d}"] = pa.array(codes.astype(np.int8))
    parquet.write_table(pa.table(made), path)
    return levels


def study_of(levels: list[int], rows: int) -> str:
    """Return a study whose only question names its model and nothing else."""
    declared = "".join(
        f"[columns.c{index:02d}]\nlevels = {list(range(count))}\noutside = 0\n" for index, count in enumerate(levels)
    )
    return (
        f'[data]\npath = "records.parquet"\nsize = {rows}\nunit = "one row per person"\n{declared}'
        '[budget]\nepsilon = "1"\ndelta = "1e-6"\nledger = "study.db"\n'
        '[questions.everything]\nmodel = "synthesis"\nepsilon = "1"\ndelta = "1e-6"\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=12)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        levels = written(given.columns, given.rows, given.classes, folder / "records.parquet")
        (folder / "study.toml").write_text(study_of(levels, given.rows))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        marks = [process_time()]
        study = dc.Study(folder / "study.toml")
        release = study.publish("everything")
        marks.append(process_time())
        posterior = dc.infer(release)
        assert isinstance(posterior, dc.synthesis.SynthesisPosterior)
        fitted = posterior.joint.pairs()
        marks.append(process_time())
        made = posterior.records(given.rows, seed=1)
        made.write(folder / "made-up.parquet")
        marks.append(process_time())
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        steps = np.diff(marks)
        what = f"{given.columns} columns, {given.rows:,} rows"
        for step, seconds in zip(("publish", "read", "write records"), steps.tolist(), strict=True):
            print(f"{what}: {step} {seconds:.1f} CPU s")
            record(f"{what}: {step}", seconds, "CPU s")
        print(f"{what}: all {steps.sum():.1f} CPU s, {memory:.2f} GiB ({before:.2f} before), {len(fitted):,} pairs")
        record(f"{what}: all", steps.sum(), "CPU s", goal="180 CPU s", missed=bool(steps.sum() > GOAL_SECONDS))
        record(f"{what}: largest memory", memory, "GiB", goal="2 GiB", missed=memory > GOAL_GIB)


if __name__ == "__main__":
    main()
