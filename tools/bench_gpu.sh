#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Our kernels and those of another library with cuDNN's interface, in turn in one process, from a folder made by gpu_folder.sh.
#   bench_gpu.sh LIBRARY [FOLDER [OUT_DIR [LIST...]]]     lists: gpu_key (default), perf_rnn, perf_attn, gpu_memory, gpu_norm, or any of lists/
# OUT_DIR gets LIST.csv; the table, slowest against the other library first, goes to standard output.
set -u
lib=${1:?usage: bench_gpu.sh LIBRARY [FOLDER [OUT_DIR [LIST...]]]}
folder=$(cd "${2:-.}" && pwd)
out=${3:-$folder/out}
[ $# -gt 3 ] && shift 3 || set -- gpu_key
mkdir -p "$out"
# Our lib/ must not be in LD_LIBRARY_PATH: the other library opens its parts by bare name and would get ours.
ANYDNN_ENGINE=cuda "$folder/bin/dnbench" overhead --lib "$folder/lib/libcudnn.so.8"
"$folder/bin/dnbench" overhead --lib "$lib"
for list; do
    echo "== $list"
    "$folder/bin/dnbench" time --engine cuda --vs "$lib" --seconds "${SECONDS_PER_LINE:-0.1}" --lists "$folder/lists" -l "$list" --csv "$out/$list.csv" \
        >"$out/$list.txt" 2>&1
    grep 'ratio' "$out/$list.txt" | grep -v geometric | sed 's/.*ratio \([0-9.a-z-]*\).*/\1 &/' | sort -n | cut -d' ' -f2- | cut -c1-260
    grep -v 'ratio' "$out/$list.txt" | grep -v '^check' | head -n 20
    grep 'geometric' "$out/$list.txt"
done
