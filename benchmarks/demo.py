"""One study with a question of every sort: what benchmarks plan. No data go with it."""

STUDY = """\
[data]
path = "survey.csv"
size = 1200
unit = "one row per patient"

[columns.ward]
levels = ["North", "South", "East", "West"]

[columns.fall]
levels = ["no", "yes"]

[columns.fallen]
levels = ["no", "yes"]
outside = "no"

[columns.smoking]
levels = ["never", "former", "current"]

[columns.age]
bands = [0, 40, 65, 120]

[columns.years]
bounds = [0, 120]
missing = "middle"

[columns.bmi]
bounds = [10, 60]
missing = "middle"

[budget]
epsilon = "20"
ledger = "study.db"
population = "patients"

[questions.smoking]
columns = ["smoking"]
epsilon = "0.1"

[questions.falls]
columns = ["ward", "fall"]
epsilon = "0.5"

[questions.ages]
columns = ["age", "smoking"]
epsilon = "1.5"

[questions.three-columns]
columns = ["ward", "fallen", "smoking"]
epsilon = "0.5"

[questions.mean]
model = "number"
column = "bmi"
ask = ["mean", "sum"]
epsilon = "1"

[questions.means-by-ward]
model = "number"
column = "bmi"
ask = ["mean", "variance"]
by = "ward"
epsilon = "1"

[questions.quantiles]
model = "number"
column = "years"
quantiles = [0.25, 0.5, 0.75]
epsilon = "1"

[questions.line]
model = "regression"
formula = "bmi ~ years"
epsilon = "4"

[questions.logistic]
model = "logistic"
formula = "fallen ~ ward + smoking"
prior = "Normal(0, 1.5)"
epsilon = "1"

[questions.network]
model = "network"
edges = ["ward -> fallen", "smoking -> fallen"]
epsilon = "1"

[questions.classes]
model = "naive-bayes"
target = "fallen"
features = ["ward", "smoking"]
epsilon = "1"
"""
