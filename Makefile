# Two commands do everything: `make demo` shows the library at work, `make test` runs its tests.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test validate check bench clean

demo: .venv/installed
	$(BIN)/python examples/hospital.py

test: .venv/installed-dev
	$(BIN)/pytest -q -n 2

validate: .venv/installed-dev
	$(BIN)/pytest -q -s validation

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed-dev
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/inference.py
	$(BIN)/python benchmarks/counting.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[plots]"
	touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@ .venv/installed

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
