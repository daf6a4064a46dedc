#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Collects what check_gpu.sh and bench_gpu.sh need into one folder that runs on a machine with a GPU and nothing else: programs, libraries,
# lists, golden files.
#   tools/gpu_folder.sh BUILD_DIR FOLDER      also writes FOLDER.tar.xz, which is what to copy: each program and library holds all kernels
set -eu
build=${1:?usage: gpu_folder.sh BUILD_DIR FOLDER}
folder=${2:?usage: gpu_folder.sh BUILD_DIR FOLDER}
source=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib" "$folder/deps" "$folder/tests" "$folder/lists" "$folder/golden" "$folder/example"
cp "$build/bin/dnbench" "$folder/bin/"
cp -a "$build"/lib/libcudnn*.so* "$folder/lib/"
for t in gpu gpu_alloc misuse hostile life cases gradients fused rnn attn ctc; do cp "$build/tests/test_${t}_v8" "$build/tests/test_${t}_v9" "$folder/tests/"; done
cmocka=$(ldd "$build/tests/test_gpu_v8" | sed -n 's/.*libcmocka[^ ]* => \([^ ]*\).*/\1/p')
cp -L "$cmocka" "$folder/deps/$(basename "$cmocka")"
cp "$source"/bench/lists/*.txt "$folder/lists/"
cp "$source"/tests/golden/* "$folder/golden/"
cp "$source/tools/check_gpu.sh" "$source/tools/bench_gpu.sh" "$folder/"
${CC:-cc} -O2 "$source/examples/train_digits.c" -I "$source/include/v8" -I "$source/include" -L "$build/lib" -l:libcudnn.so.8 -lm -Wl,-rpath-link,"$build/lib" -Wl,-rpath,'$ORIGIN/../lib' \
    -o "$folder/example/train_digits"
cp "$source/examples/digits.csv" "$folder/example/"
find "$folder/bin" "$folder/tests" "$folder/lib" "$folder/deps" -type f -exec strip {} +
tar -C "$(dirname "$folder")" -cf - "$(basename "$folder")" | xz -T0 -3 >"$folder.tar.xz"
du -sh "$folder" "$folder.tar.xz"
