# build   the extension into the source tree and .venv (then: .venv/bin/mpi-queues, source gdb-scripts/mpi_queues.py)
# demo    a small deadlocked MPI job: started, read, explained, ended
# test    lint, Rust tests, Python tests, tests on real MPIs and a real gdb
# test-all-mpis  the tests on real MPIs, on every MPI that apt and pip install
# mpis    the MPIs that the tests need: wheels in environments of their own, and MPICH built with debugger support
# lint    formatters, clippy, ruff, mypy, the import rules
# bench   speed and memory, as ratios in one run
# layouts the shipped layout profiles, anew from Debian's packages
# recordings  those of our own programs: the demo's, and those that the tests keep (as root)
# clean   removes what the others made
#
# Every target installs what it lacks: Debian packages as root or through sudo, Python tools into .venv. Where it may
# not, it prints the command to type.

CARGO := $(shell tools/find-cargo)
# Tools that look for cargo themselves (maturin) must find the same one.
export PATH := $(if $(CARGO),$(dir $(CARGO)):)$(PATH)
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python

PYTHON ?= /usr/bin/python3
DEV_TOOLS := maturin==1.16.0 pytest==9.2.0 ruff==0.17.5 mypy==2.4.1

RUST_SOURCES := $(shell find src layouts -type f \( -name '*.rs' -o -name '*.json' \) 2>/dev/null)

.PHONY: build demo test test-all-mpis mpis lint rust-test python-test bench layouts recordings clean
.DELETE_ON_ERROR:

build: .venv/.built

.venv/.tools: Makefile
	@tools/install-missing build
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check $(DEV_TOOLS)
	@touch $@

# Python sources are used in place (an editable install); only the Rust side needs building.
.venv/.built: .venv/.tools pyproject.toml Cargo.toml Cargo.lock $(RUST_SOURCES)
	@tools/install-missing build
	PATH="$$(dirname "$$(tools/find-cargo)"):$$PATH" VIRTUAL_ENV="$(CURDIR)/.venv" .venv/bin/maturin develop --release --quiet
	@touch $@

demo: build
	@tools/install-missing demo
	.venv/bin/mpi-queues demo

test: lint rust-test python-test

lint: build
	@tools/install-missing lint
	cargo fmt --check
	cargo clippy --quiet --all-targets -- -D warnings
	cargo clippy --quiet --all-targets --features python -- -D warnings
	.venv/bin/ruff check --quiet .
	.venv/bin/ruff format --quiet --check .
	.venv/bin/mypy python/mpi_queues
	.venv/bin/python -m mypy.stubtest --ignore-disjoint-bases mpi_queues._native
	.venv/bin/python -m pytest -q tests/unit/test_imports.py

rust-test: build
	@tools/install-missing test
	cargo test --quiet

python-test: mpis
	.venv/bin/python -m pytest -q

mpis: build
	@tools/install-missing test
	.venv/bin/python tests/make_mpis.py

test-all-mpis: build
	@tools/install-missing test-all-mpis
	.venv/bin/python tests/make_mpis.py --all
	.venv/bin/python -m pytest -q --all-mpis tests/mpi tests/debugger/test_info.py

bench: build
	@tools/install-missing test
	.venv/bin/python tests/benches/run.py

layouts: build
	@tools/install-missing layouts
	layouts/make-shipped.sh
	layouts/make-shipped-mpich.sh
	layouts/make-shipped-ucx.sh

recordings: build
	@tools/install-missing demo
	.venv/bin/python tests/recordings/make.py

clean:
	rm -rf target .venv .cache dist .mypy_cache .ruff_cache .pytest_cache python/mpi_queues/_native*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
