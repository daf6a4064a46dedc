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
# Compilers of kernels that `make nvrtc` installed serve where they are.
NVRTC  ?= $(BUILD)/nvrtc
NVRTC_THERE = $(shell [ ! -d "$(NVRTC)" ] || (cd "$(NVRTC)" && pwd))
CONFIGURE = cmake -S . -B "$(BUILD)" -G "$(or $(CACHED_GENERATOR),$(GENERATOR))" -DANYDNN_CUDA=$(ANYDNN_CUDA) -DANYDNN_NVRTC="$(NVRTC_THERE)" $(CMAKE_ARGS)
SANITIZE_BUILD = $(BUILD)/sanitize
SANITIZE_CC ?= $(shell echo "int main(void){return 0;}" | clang -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null && echo clang || echo cc)

.PHONY: all configure check check-long check-sanitize check-thread check-real check-oracle check-wine gpu-folder check-gpu bench-gpu check-kernels nvrtc demo dist install deps clean help

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
	@cmake --build "$(BUILD)" -j $(JOBS) --target anydnn mkelf kill
	@for case in first install use rollback uninstall again view repair last; do \
		sh tests/cli/kill.sh "$(BUILD)/bin/anydnn" "$(BUILD)/tests/mkelf" "$(BUILD)/tests/kill" $$case --all || exit; done

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

# The tool against the vendor's wheels (several gigabytes, fetched once), and against archives in the vendor's layouts made of them.
REAL ?= $(BUILD)/real
check-real: all
	@sh tests/real/check_real.sh "$(BUILD)/bin/anydnn" "$(REAL)"
	@sh tests/real/check_store.sh "$(BUILD)" "$(REAL)"

# ref against PyTorch on the CPU.
check-oracle: all
	@PYTHON="$(PYTHON)" sh tests/oracle/check_oracle.sh "$(BUILD)/lib/libcudnn.so.8"

# The rules for Windows against Wine's loader.
check-wine: configure
	cmake --build "$(BUILD)" -j $(JOBS) --target anydnn
	@sh tests/real/check_wine.sh "$(BUILD)/bin/anydnn" "$(BUILD)/wine"

# What needs a GPU runs from a folder of its own, which may be made here and copied to the machine that has one.
GPU_BUILD = $(BUILD)/with-cuda
GPU ?= $(BUILD)/gpu
GPU_ARCHS ?= 90a
VENDOR ?= libcudnn.so.9
gpu-folder: deps
	@cmake -S . -B "$(GPU_BUILD)" -G "$(GENERATOR)" -DANYDNN_CUDA=on -DANYDNN_CUDA_ARCHS="$(GPU_ARCHS)" -DANYDNN_TEST_KINDS="api;gpu" $(CMAKE_ARGS) >/dev/null
	cmake --build "$(GPU_BUILD)" -j $(JOBS) --target build_tests
	@sh tools/gpu_folder.sh "$(GPU_BUILD)" "$(GPU)"

check-gpu: gpu-folder
	@sh "$(GPU)/check_gpu.sh" "$(GPU)"

bench-gpu: gpu-folder
	@sh "$(GPU)/bench_gpu.sh" "$(VENDOR)" "$(GPU)" "$(GPU)/out" gpu_key perf_rnn perf_attn gpu_norm gpu_memory

check-kernels: gpu-folder
	@sh tools/check_kernels.sh "$(GPU_BUILD)"

demo: deps
	@$(MAKE) --no-print-directory dist
	@sh tools/demo.sh "$(BUILD)" "$(DIST)"

# The oldest compilers of kernels, from the package index: for releases, whose code is to load on old drivers.
nvrtc:
	@sh tools/nvrtc_get.sh "$(NVRTC)"

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
	@echo "make dist       archives for both ABIs in $(DIST)/ (a release: make nvrtc, then make dist ANYDNN_CUDA=on)"
	@echo "make nvrtc      install the CUDA compilers that a release is made with in NVRTC=$(BUILD)/nvrtc"
	@echo "make install    PREFIX=$(PREFIX) DESTDIR= ABI=8|9"
	@echo "make deps       only install (as root) or name what is missing"
	@echo "make check-long   the long problem lists (whole network layers)"
	@echo "make check-sanitize   tests under the address and undefined-behaviour sanitizers"
	@echo "make check-thread     tests of core and ref under the thread sanitizer"
	@echo "make check-real       the tool against the vendor's wheels (several gigabytes from the package index, kept in REAL=$(BUILD)/real)"
	@echo "make check-oracle     recurrent networks, attention and CTC loss against PyTorch on the CPU (as root installs python3-torch; PYTHON=one that imports torch)"
	@echo "make check-wine       the tool's rules for Windows against Wine's loader (needs wine64 and gcc-mingw-w64-x86-64)"
	@echo "make check-gpu        build with kernels, then everything that needs a GPU (GPU_ARCHS=90a); $(GPU).tar.xz may be copied to another machine"
	@echo "make bench-gpu        our kernels against another library's (VENDOR=path of its libcudnn.so.9)"
	@echo "make check-kernels    resource use of every kernel: no stack frame in a tuned one"
	@echo "make clean      remove $(BUILD) and $(DIST)"
	@echo "Variables: ANYDNN_CUDA=auto|on|off, BUILD, JOBS, CC, CMAKE_ARGS"
