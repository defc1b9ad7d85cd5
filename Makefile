# The verbs of this repository. `make run` and `make test` are the two that matter; both install
# what is missing, build, and go.

PRESET ?= release
ARGS   ?=
JOBS   ?= $(shell nproc)

.PHONY: setup build run test test-asan test-tsan test-kubectl test-chaos fuzz bench format lint clean

setup:
	@tools/setup

build: setup
	@test -f build/$(PRESET)/build.ninja || cmake --preset $(PRESET)
	@cmake --build --preset $(PRESET) -j $(JOBS)

run: build
	@tools/run $(ARGS)

test: build
	ctest --test-dir build/$(PRESET) -j $(JOBS) --output-on-failure

# The same tests under AddressSanitizer + UndefinedBehaviorSanitizer, and under ThreadSanitizer.
test-asan:
	$(MAKE) test PRESET=asan
test-tsan:
	TSAN_OPTIONS="suppressions=$(CURDIR)/tools/tsan.supp $$TSAN_OPTIONS" $(MAKE) test PRESET=tsan

# Drives a real kubectl, the one in PATH or in KUBECTL, against a server of its own.
test-kubectl: build
	tests/kubectl_suite/suite.py build/bin/keelson $(ARGS)

# Three etcd servers that are killed, stopped and cut off at random under load, and a check of the history.
CHAOS_SECONDS ?= 300
test-chaos: build
	CHAOS_SECONDS=$(CHAOS_SECONDS) build/$(PRESET)/src/kv/etcd/kv_etcd_chaos

# Runs every fuzz target for SECONDS each; findings are kept under build/fuzz/findings.
SECONDS ?= 60
fuzz:
	$(MAKE) build PRESET=fuzz
	tools/fuzz --seconds $(SECONDS)

bench: build
	@bench/run $(ARGS)

format: setup
	@git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

lint: setup
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target keelson_api  # headers that sources include
	@tools/lint

clean:
	rm -rf build
