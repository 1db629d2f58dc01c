# Needs Python 3.11 or newer and make. PYTHON=path/to/python3.12 names the one to use.
.DEFAULT_GOAL := help
.PHONY: help run test lint style types walls soak bench conformance screenshots run-venv dev-venv
export PYTHON
BIN := .venv/bin
# Tests start hundreds of processes: without bytecode each of them would compile the project anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
AT_ONCE := 3

help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

run: run-venv ## Open the console on the bundled workspace
	@exec $(BIN)/evatui .

test: style types ## Check everything: style, types, walls and the whole test suite
	$(PYTEST) -n $(AT_ONCE) --dist worksteal

lint: style types walls ## Check style, types and walls only

style: dev-venv
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: dev-venv
	$(BIN)/mypy

walls: dev-venv
	$(BIN)/lint-imports --no-cache

soak: dev-venv ## Run the long tests at their full size
	$(PYTEST) tests/soak -o addopts='--strict-markers --import-mode=importlib -p no:cacheprovider' -o timeout=0

bench: dev-venv ## Measure, and write tests/bench/RESULTS.md
	$(BIN)/python -m tests.bench

conformance: dev-venv ## Hold MCP, in and out, against the public harness; needs Node and, the first time, npm
	$(BIN)/python -m tests.mcp.conformance
	$(BIN)/python -m tests.adapters.conformance

screenshots: run-venv ## Draw screenshots/*.svg again, and PNG where chromium or rsvg-convert is there
	@$(BIN)/python -m evatui.demo.pictures screenshots

run-venv:
	@.ci/venv run

dev-venv:
	@.ci/venv dev
