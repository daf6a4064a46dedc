#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# What another library with cuDNN's interface answers, in one run on a machine where it works: golden files for tests/golden,
# its results against ref on every list, the API tests' view of its statuses.
#   tools/compare_library.sh LIBRARY OUT_DIR [BUILD_DIR]
# OUT_DIR gets golden/, check.csv, and the output of each step; the summary goes to standard output.
set -u
lib=${1:?usage: compare_library.sh LIBRARY OUT_DIR [BUILD_DIR]}
out=${2:?usage: compare_library.sh LIBRARY OUT_DIR [BUILD_DIR]}
build=${3:-build}
mkdir -p "$out/golden"

echo "== golden files"
timeout 280 "$build/bin/dnbench" golden --all --lib "$lib" --out "$out/golden" > "$out/golden.log" 2>&1
echo "exit $?"; grep answered "$out/golden.log"

echo "== ref against them"
for f in "$out"/golden/*.golden; do
    timeout 60 "$build/bin/dnbench" check --quiet --golden "$f" > "$f.log" 2>&1
    echo "$(basename "$f"): exit $?: $(tail -1 "$f.log")"
done

echo "== API tests"
for t in misuse cases life gradients rnn attn ctc fused; do
    timeout 120 "$build/tests/test_${t}_v9" "$lib" > "$out/$t.log" 2>&1
    echo "$t: exit $?"
    grep -a -E "PASSED|FAILED" "$out/$t.log" | tail -12
done
exit 0
