# Everything a person or a machine runs on a checkout. Needs Python 3.11 or later, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help install demo test evidence bench docs fuzz mutate audit wheel-test clean

help:
	@echo "make demo      install the core and see whether a published method holds up (3 minutes)"
	@echo "make test      install what tests need; lint, types, import contract, tests"
	@echo "make install   a $(VENV) with everything"
	@echo "make evidence  run every claim at the standard profile and ship the evidence"
	@echo "make bench     speed beside the strongest peers"
	@echo "make docs      write generated pages, tables and pictures anew, and the report into site/"
	@echo "make fuzz      the fuzz tests with a hundred thousand cases and more"
	@echo "make mutate    change the code that decides claims, place by place: do the tests notice? (half an hour)"
	@echo "make audit     look the pinned versions up among known vulnerabilities; needs the network"
	@echo "make wheel-test  build twice, compare, and try the wheel in an empty environment"
	@echo "make clean     remove $(VENV), caches and the local store"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "probatum needs Python 3.11 or later, this is " + sys.version.split()[0] + "; name another with make PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)

# One stamp per set of installs, so that a second `make` starts at once.
$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing the core into $(VENV)"
	@$(PIP) -e '.[supervised]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what tests need into $(VENV)"
	@$(PIP) -e '.[all,test]'
	@touch $(VENV)/.core $@

install: $(VENV)/.test

demo: $(VENV)/.core
	@$(BIN)/probatum check linear-fractional --profile quick --jobs $(JOBS)

test: $(VENV)/.test
	@tools/install_for_tests.sh chromium gnuplot postgresql
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit -q -c pyproject.toml -r src tools
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

evidence: $(VENV)/.test
	$(BIN)/probatum check --all --profile standard --ship --jobs $(JOBS)
	$(BIN)/python tools/readme_table.py

bench: $(VENV)/.test
	@for script in benchmarks/[a-z]*.py; do OMP_NUM_THREADS=1 $(BIN)/python $$script; done

docs: $(VENV)/.test
	$(BIN)/python tools/calibrate_verdicts.py --jobs $(JOBS)
	$(BIN)/python tools/readme_table.py
	$(BIN)/probatum report --out site
	$(BIN)/python tools/report_pictures.py

fuzz: $(VENV)/.test
	OMP_NUM_THREADS=1 PROBATUM_HYPOTHESIS=deep $(BIN)/python -m pytest tests/fuzz --timeout 14400

mutate: $(VENV)/.test
	PYTHONHASHSEED=0 $(BIN)/python tools/mutate.py --jobs $(JOBS)

# In an environment of its own, whose packages are none of ours.
audit: $(BIN)/python
	@$(PYTHON) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.10'
	$(VENV)/audit/bin/pip-audit --strict --no-deps --disable-pip -r constraints.txt

wheel-test: $(VENV)/.test
	$(BIN)/python tools/try_wheel.py

clean:
	rm -rf $(VENV) .probatum probatum-report site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
