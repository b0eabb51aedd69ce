# `make demo` and `make test` work in a fresh clone: they build .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test benchmarks lint clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

demo: $(VENV)/installed
	$(BIN)/schedgap run eva-table4

test: $(VENV)/installed
	$(BIN)/python -m pytest -n 2

benchmarks: $(VENV)/installed
	$(BIN)/python -m pytest tests/benchmarks --benchmark-enable

lint: $(VENV)/installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist *.egg-info
