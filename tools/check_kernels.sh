#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Resource use of every kernel in BUILD_DIR/cuda, as the assembler reported it: a tuned kernel has no stack frame and spills nothing. Kernels
# that take everything ("naive", "view") may. The table goes to BUILD_DIR/cuda/resources.txt.
#   tools/check_kernels.sh BUILD_DIR
set -eu
build=${1:?usage: check_kernels.sh BUILD_DIR}
ls "$build"/cuda/*.cubin.log >/dev/null 2>&1 || { echo "check_kernels: no kernels in $build/cuda (ANYDNN_CUDA=on builds them)"; exit 77; }
awk '/Compiling entry function/ { split($0, q, "\047"); name = q[2]; target = q[4] }
     /stack frame/ && name { sub(/^ptxas *\. /, ""); frame = $1; spill = $5 + $9 }  # NVRTC begins the line so
     /Used .* registers/ && name { print name, target, "registers", $5, "stack", frame, "spilled", spill; name = "" }' "$build"/cuda/*.cubin.log \
    >"$build/cuda/resources.txt"
bad=$(grep -v '_naive\|_view_' "$build/cuda/resources.txt" | grep -v 'stack 0 spilled 0$' || true)
echo "$(wc -l <"$build/cuda/resources.txt") kernels, $(printf '%s' "$bad" | grep -c . || true) tuned ones with a stack frame"
[ -z "$bad" ] || { printf '%s\n' "$bad"; exit 1; }
