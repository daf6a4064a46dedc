#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# check.sh BUILD [ctest options]: runs the tests of a build folder and ends with "N passed, N failed".
# Exit status 0 only where at least one test ran and none failed.
set -u
build=$1
shift
log=$build/check.log
source=$(cd "$(dirname "$0")/.." && pwd)
if grep -q '^ANYDNN_SANITIZE:[A-Z]*=ON' "$build/CMakeCache.txt"; then
    # Tests ask for impossible sizes on purpose.
    export ASAN_OPTIONS=allocator_may_return_null=1
    # use_tls=0: the leak checker reads the thread-local storage of libraries opened at run time
    # (oneDNN's OpenMP) and crashes there itself. What only libc's own thread-local storage holds is
    # then a false finding, told apart by function name, which takes libc's symbols.
    if command -v llvm-symbolizer >/dev/null && [ -d /usr/lib/debug/.build-id ]; then
        export LSAN_OPTIONS="use_tls=0:print_suppressions=0:suppressions=$source/tests/lsan.supp"
    else
        echo "check: leaks are not looked for without llvm-symbolizer and libc6-dbg"
        ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    fi
fi
if grep -q '^ANYDNN_SANITIZE:[A-Z]*=thread' "$build/CMakeCache.txt"; then
    # A test forks while the library's threads are there, on purpose. oneDNN's OpenMP is not built for this sanitizer.
    export TSAN_OPTIONS=die_after_fork=0 ANYDNN_ENGINE=ref ANYDNN_THREADS=4
fi
: >"$log"
(cd "$build" && ctest --output-on-failure --timeout 600 "$@" 2>&1; echo "ctest exit $?") | tee "$log" | grep -v '^ctest exit '

# "98% tests passed, 1 tests failed out of 57"; tests that never started count as failed there.
summary=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' "$log" | tail -1)
failed=$(echo "$summary" | sed -n 's/.*passed, \([0-9]*\) tests failed.*/\1/p')
total=$(echo "$summary" | sed -n 's/.*out of \([0-9]*\).*/\1/p')
skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
if [ -z "$total" ] || [ "$total" -eq 0 ]; then
    echo "check: no test ran in $build"
    echo "0 passed, 1 failed"
    exit 1
fi
if [ "$skipped" -gt 0 ]; then
    echo "$skipped skipped (not counted as passed)"
fi
echo "$((total - failed - skipped)) passed, $failed failed"
[ "$failed" -eq 0 ] && grep -q '^ctest exit 0$' "$log"
