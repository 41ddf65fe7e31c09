"""A survey of six patients with its study file: what tests of studies share."""

from pathlib import Path

import discreet as dc

STUDY = """
[data]
path = "survey.csv"
size = 6
unit = "one row per patient"
[columns.smoking]
levels = ["never", "former", "current"]
outside = "other"
[columns.age]
bands = [0, 18, 40, 65, 120]
[columns.fall]
levels = [false, true]
outside = false
[budget]
epsilon = "2"
delta = "1e-6"
ledger = "study.db"
population = "patients of 2026"
[questions.smoking-2026]
model = "categories"
columns = ["smoking"]
prior = 1
mechanism = "GeometricHistogram"
epsilon = "0.5"
[questions.crossed]
columns = ["age", "fall"]
mechanism = "DiscreteLaplaceCounts"
epsilon = 0.1
label = "Falls by age"
"""
SURVEY = (
    "smoking,age,fall\nnever,30,true\nformer,17,false\ncurrent,70,\nnever,,True\nchews tobacco,x,false\n,130,true\n"
)


def survey_in(folder: Path) -> dc.Study:
    """Write the survey and its study file into a folder."""
    (folder / "survey.csv").write_text(SURVEY)
    (folder / "study.toml").write_text(STUDY)
    return dc.Study(folder / "study.toml")
