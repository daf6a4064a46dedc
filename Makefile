# A thin face over CMake. `make help` lists the targets.
BUILD  ?= build
DIST   ?= dist
PREFIX ?= /usr/local
DESTDIR ?=
ABI    ?= 8
ANYDNN_CUDA ?= auto
CMAKE_ARGS ?=
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

GENERATOR := $(if $(shell command -v ninja 2>/dev/null),Ninja,Unix Makefiles)
# A build folder keeps the generator that it was made with.
CACHED_GENERATOR = $(shell sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$(BUILD)/CMakeCache.txt" 2>/dev/null)
CONFIGURE = cmake -S . -B "$(BUILD)" -G "$(or $(CACHED_GENERATOR),$(GENERATOR))" -DANYDNN_CUDA=$(ANYDNN_CUDA) $(CMAKE_ARGS)
SANITIZE_BUILD = $(BUILD)/sanitize
SANITIZE_CC ?= $(shell echo "int main(void){return 0;}" | clang -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null && echo clang || echo cc)

.PHONY: all configure check check-long check-sanitize check-thread check-real demo dist install deps clean help

all: configure
	cmake --build "$(BUILD)" -j $(JOBS)

configure:
	@mkdir -p "$(BUILD)"
	@$(CONFIGURE) >"$(BUILD)/configure.log" 2>&1 || { cat "$(BUILD)/configure.log"; exit 1; }

deps:
	@sh tools/deps.sh

# deps comes first and in a make of its own: it may install what this file looks for.
check: deps
	@$(MAKE) --no-print-directory all
	cmake --build "$(BUILD)" -j $(JOBS) --target build_tests
	@sh tools/check.sh "$(BUILD)" -j $(JOBS)

# Whole layers of networks and the long runs: an hour and more.
check-long: all
	@cmake --build "$(BUILD)" -j $(JOBS) --target dnbench
	"$(BUILD)/bin/dnbench" check -l conv_full -l ops_full --quiet --seconds 900
	"$(BUILD)/bin/dnbench" bitwise --engine cpu -l conv --quiet --seconds 120
	@cmake --build "$(BUILD)" -j $(JOBS) --target unit_cpu_random
	"$(BUILD)/tests/unit_cpu_random" 1400 1
	@cmake --build "$(BUILD)" -j $(JOBS) --target loader_random loader_program
	"$(BUILD)/tests/loader_random" "$(BUILD)/tests/loader_program" 1000 1000

check-sanitize: deps
	@cmake -S . -B "$(SANITIZE_BUILD)" -G "$(GENERATOR)" -DCMAKE_C_COMPILER=$(SANITIZE_CC) -DANYDNN_SANITIZE=ON \
		-DANYDNN_CUDA=off $(CMAKE_ARGS) >/dev/null
	cmake --build "$(SANITIZE_BUILD)" -j $(JOBS) --target build_tests
	@sh tools/check.sh "$(SANITIZE_BUILD)" -j $(JOBS)

# ref and core alone: oneDNN's OpenMP run time is not built for this sanitizer.
check-thread: deps
	@cmake -S . -B "$(BUILD)/thread" -G "$(GENERATOR)" -DANYDNN_SANITIZE=thread -DANYDNN_CUDA=off \
		-DANYDNN_TEST_KINDS="unit;api" $(CMAKE_ARGS) >/dev/null
	cmake --build "$(BUILD)/thread" -j $(JOBS) --target build_tests
	@sh tools/check.sh "$(BUILD)/thread" -j $(JOBS) -R '^unit_|^test_life|^test_cases_v8_ref' -E 'unit_cpu|unit_bn_align|unit_alloc|unit_conv_fft|unit_conv_winograd'

# The tool against the vendor's wheels: several gigabytes, fetched once.
check-real: all
	@sh tests/real/check_real.sh "$(BUILD)/bin/anydnn" "$(BUILD)/real"

demo: deps
	@$(MAKE) --no-print-directory dist
	@sh tools/demo.sh "$(BUILD)" "$(DIST)"

dist: all
	@sh tools/dist.sh "$(BUILD)" "$(DIST)" 8 9

install: all
	@ABI=$(ABI) DESTDIR="$(DESTDIR)" cmake --install "$(BUILD)" --prefix "$(PREFIX)"

clean:
	rm -rf "$(BUILD)" "$(DIST)"

help:
	@echo "make            build the libraries into $(BUILD)/lib, headers into $(BUILD)/include"
	@echo "make check      install what is missing (as root), build and run all tests"
	@echo "make demo       build, pack, unpack, compile the example against it, train a network"
	@echo "make dist       archives for both ABIs in $(DIST)/"
	@echo "make install    PREFIX=$(PREFIX) DESTDIR= ABI=8|9"
	@echo "make deps       only install (as root) or name what is missing"
	@echo "make check-long   the long problem lists (whole network layers)"
	@echo "make check-sanitize   tests under the address and undefined-behaviour sanitizers"
	@echo "make check-thread     tests of core and ref under the thread sanitizer"
	@echo "make check-real       the tool against the vendor's wheels (several gigabytes from the package index)"
	@echo "make clean      remove $(BUILD) and $(DIST)"
	@echo "Variables: ANYDNN_CUDA=auto|on|off, BUILD, JOBS, CC, CMAKE_ARGS"
