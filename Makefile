# Everything a developer does here, one word each. `make` alone lists the words.
#
# Every target that needs the virtual environment depends on `ready`, which makes it or brings it up
# to date, so that `make demo` and `make test` work on a machine that has nothing but Python and make.

SHELL := /bin/sh
BIN := .venv/bin

# Pythons to try: the first that is new enough and can make environments is taken. If one is asked
# for by name, it is that or none.
PYTHONS := $(if $(PYTHON),"$(PYTHON)",python3 python python3.14 python3.13 python3.12 python3.11)
NO_PYTHON := $(if $(PYTHON),"$(PYTHON)" is none,found none)

# The Python of an environment that is there stays, unless another is asked for by name.
SETUP_OPTIONS := $(if $(PYTHON),--this-python)

.DEFAULT_GOAL := help
.PHONY: help setup ready check test test-kernel test-deep demo wheels bench fuzz format clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: SETUP_OPTIONS += --retry-kernel
setup: ready ## make the virtual environment .venv with everything pinned, and the kernel where Rust is

ready:
	@for candidate in $(PYTHONS); do \
	  if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then exec "$$candidate" tools/environment.py $(SETUP_OPTIONS); fi; \
	done; \
	echo "Twigcast needs Python 3.11 or newer with its venv module, and" $(NO_PYTHON)"; install one" \
	     "(on Debian and Ubuntu: python3 and python3-venv), or name it: make setup PYTHON=/path/to/python3" >&2; \
	exit 1

check: ready ## format, lint, types, import rules
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check test-kernel ## everything CI runs: check, then all tests
	$(BIN)/pytest -n 2 --dist loadgroup

test-kernel: ready ## the kernel's own tests, where the kernel was built
	@if grep -q '"kernel_built": true' .venv/setup.json; then \
	  cargo test --quiet --manifest-path kernel/core/Cargo.toml; \
	else echo "No kernel; its own tests are skipped" >&2; fi

test-deep: ready ## the long tests too: large sets, many more random examples
	$(BIN)/pytest -n 2 --dist loadgroup --deep

demo: ready ## a news feed and a few thousand subscriptions, end to end on Spark
	$(BIN)/twigcast demo

wheels: ready ## build dist/*.whl, and try them in empty environments without the checkout
	$(BIN)/python tools/wheels.py

bench: ready ## measure, compare with the naive way, write a dated record
	$(BIN)/python -m benchmarks

FUZZ_SECONDS := 600
FUZZ_WORKERS := 1

fuzz: ready ## random and damaged input for FUZZ_SECONDS; FUZZ_SEED repeats a run
	$(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS) --workers $(FUZZ_WORKERS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))

format: ready ## put the code into the project's form
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	@if command -v cargo >/dev/null 2>&1; then cargo fmt --manifest-path kernel/Cargo.toml --all; fi

clean: ## remove everything made here, the virtual environment too
	rm -rf .venv kernel/target build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests tools benchmarks fuzz -name __pycache__ -type d -prune -exec rm -rf {} +
