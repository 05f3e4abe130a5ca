# Everything runs from .venv, which these targets make themselves from the lock files.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
AUDIT := build/audit
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
CODE := webapp api jobs tests
WORDS := build/respondents.pot
EXTRACT = mkdir -p build && $(BIN)/pybabel --quiet extract --mapping-file pyproject.toml \
	--keyword Phrase --add-location file --sort-by-file --no-wrap --output-file $(WORDS) .
UPDATE = $(BIN)/pybabel --quiet update --domain respondents --input-file $(WORDS) \
	--output-dir webapp/translations --no-fuzzy-matching --ignore-obsolete --no-wrap \
	--ignore-pot-creation-date

ifdef UV
INSTALL = $(UV) pip install --quiet --python $(BIN)/python
else
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
endif

# The files of tests are in memory, where a synced commit costs nothing: if there is room for them,
# programs may run from there, and nobody named another place. Proofs and figures are of the disk.
SCRATCH = $(shell test -z "$$TMPDIR" && own=$$(mktemp -d /dev/shm/askback-XXXXXX 2>/dev/null) || exit 0; \
	free=$$(df -Pk "$$own" | awk 'END { print $$4 }'); \
	printf '#!/bin/sh\n' > "$$own/program"; chmod +x "$$own/program"; \
	test "$$free" -ge 4194304 && "$$own/program" 2>/dev/null && echo TMPDIR=/dev/shm; rm -r "$$own")

# With two, two cores rest a third of the time; with four, they get in each other's way. Compiled
# files are kept for the next run, also where PYTHONDONTWRITEBYTECODE is set: six seconds each.
PYTEST = $(SCRATCH) PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest \
	--numprocesses 3 --dist loadfile --no-loadscope-reorder
SHORT := not prove and not bench and not pictures

.PHONY: run install test slow prove check format bench pictures audit help
.DEFAULT_GOAL := help

run: $(VENV)/.installed ## start Askback on http://127.0.0.1:8000 (HOST, PORT, PUBLIC_URL, ASKBACK_DATA)
	@exec $(BIN)/askback run

install: $(VENV)/.installed ## install what Askback needs into .venv

test: $(VENV)/.installed-test ## run the tests with the servers and the browser they need
	$(PYTEST) -m "$(SHORT) and not slow"

slow: $(VENV)/.installed-test ## run the tests of kills, races, strangers' input and axe on every page
	$(PYTEST) -m "$(SHORT) and slow"

prove: $(VENV)/.installed-test ## run the long proofs with their full figures
	$(BIN)/python -m pytest -m prove --timeout 3600

check: $(VENV)/.installed-test ## check format, lint, types, import order, templates, catalogs
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports
	$(BIN)/djlint --quiet --lint templates
	$(EXTRACT)
	$(UPDATE) --check
	@$(BIN)/python .ci/budgets.py

format: $(VENV)/.installed-test ## rewrite code in the house format, bring new words into the catalogs
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)
	$(EXTRACT)
	$(UPDATE)

bench: $(VENV)/.installed-test ## measure against the ceiling routes and print the ratios
	$(BIN)/python -m pytest -m bench --capture=no --timeout 3600 tests/bench

pictures: $(VENV)/.installed-test ## photograph every page into ./pictures with a real browser
	$(BIN)/python -m pytest -m pictures tests/browser

audit: ## print what Askback is made of (CycloneDX, kept in build/sbom.json), and tell what of it has known weaknesses
	@$(MAKE) --no-print-directory --silent $(BIN)/python >&2
	@$(BIN)/python .ci/audit.py sbom requirements.lock build/sbom.json
	@$(MAKE) --no-print-directory --silent $(AUDIT)/.installed >&2 || { \
	echo "pip-audit cannot be installed, so nothing is known about weaknesses" >&2; exit 75; }
	@$(BIN)/python .ci/audit.py advisories $(AUDIT)/bin/pip-audit requirements.lock

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

$(VENV)/.installed-test: requirements-test.lock $(VENV)/.installed
	$(INSTALL) --require-hashes -r requirements-test.lock
	@touch $@

$(VENV)/.installed: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing what Askback needs into $(VENV), once. This takes up to a minute."
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(AUDIT)/.installed: requirements-audit.lock | $(BIN)/python
	@$(BIN)/python -m venv $(AUDIT)
	@$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r requirements-audit.lock
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Askback needs Python 3.11 or newer: install it, or name one with PYTHON="; exit 1; }
ifdef UV
	$(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	echo "This Python cannot make virtual environments: install the package python3-venv (Debian, Ubuntu) or uv"; exit 1; }
endif
