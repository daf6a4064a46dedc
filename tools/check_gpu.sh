#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Everything that needs a GPU, from a folder made by gpu_folder.sh; no packages, under 8 minutes. The last line says whether all is well.
#   check_gpu.sh [FOLDER [OUT_DIR]]     OUT_DIR gets the output of each step
# Steps: the driver (contexts, streams, graphs, memory, threads), a device without memory, the API tests, every list directly and replayed from graphs, equal bits
# from run to run, the example, and compute-sanitizer over a short list where it is installed.
set -u
folder=$(cd "${1:-.}" && pwd)
out=${2:-$folder/out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
bench=$folder/bin/dnbench
export LD_LIBRARY_PATH="$folder/deps${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
failed=0
start=$(date +%s)

step() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$out/$name.log" 2>&1; then
        echo "ok      $name: $(tail -n 1 "$out/$name.log" | cut -c1-150)"
    else
        echo "FAILED  $name (exit $?)"
        grep -a -v '^ok\|^\[  *\(OK\|RUN\)' "$out/$name.log" | tail -n 12 | cut -c1-300
        failed=$((failed + 1))
    fi
}
lists="conv pool act softmax bn dropout tensor reduce lrn spatial fused rnn attn ctc"
with() { # OPTIONS: every short list
    set -- "$@" --engine cuda --lists "$folder/lists" --quiet
    for l in $lists; do set -- "$@" -l "$l"; done
    timeout 300 "$bench" "$@"
}
sanitize() { # TOOL
    tool=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    timeout 120 "$tool" --tool "$1" --error-exitcode 9 --target-processes all "$bench" check --engine cuda --lists "$folder/lists" --quiet "$folder/lists/sanitize.txt"
}

for abi in 8 9; do step driver_v$abi "$folder/tests/test_gpu_v$abi" "$folder/lib/libcudnn.so.$abi"; done
for abi in 8 9; do step memory_v$abi "$folder/tests/test_gpu_alloc_v$abi" "$folder/lib/libcudnn.so.$abi"; done
for t in misuse hostile life cases gradients fused rnn attn ctc; do
    for abi in 8 9; do step ${t}_v$abi env ANYDNN_ENGINE=cuda timeout 200 "$folder/tests/test_${t}_v$abi" "$folder/lib/libcudnn.so.$abi"; done
done
step lists with check
step graphs with check --graph
step coverage with check --coverage
step bitwise with bitwise
step example env ANYDNN_ENGINE=cuda "$folder/example/train_digits" "$folder/example/digits.csv" "$out/digits.svg"
if command -v compute-sanitizer >/dev/null || [ -x /usr/local/cuda/bin/compute-sanitizer ]; then
    for tool in memcheck initcheck racecheck synccheck; do step $tool sanitize $tool; done
else
    echo "skipped compute-sanitizer: it is not installed"
fi
echo "$(($(date +%s) - start)) s, $failed failed"
[ $failed = 0 ]
