#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# A build with ANYDNN_NVRTC, on libraries that only say what they were asked: each image comes from the oldest toolkit that knows its
# architecture and is noted with it in the table; includes are followed; errors and warnings stop the build.
#   nvrtc.sh SOURCE_DIR WORK_DIR CMAKE CC
set -eu
source=$1 work=$2 cmake=$3 cc=$4
fail() { echo "nvrtc: $*"; exit 1; }
rm -rf "$work"
mkdir -p "$work/libs/b" "$work/libs/a"
fake() { # fake FILE VERSION ARCHS
    "$cc" -shared -fPIC -DVERSION="$2" -DARCHS="$3" -o "$1" "$source/tests/package/nvrtc_fake.c"
}
fake "$work/libs/a/libnvrtc.so.12" 12030 "75, 80, 90"
fake "$work/libs/b/libnvrtc.so.11.2" 11080 "75, 80, 90"
fake "$work/libs/b/libnvrtc-builtins.so.11.8" 10000 "80"
configure() { "$cmake" -S "$source" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DANYDNN_CUDA=on -DANYDNN_NVRTC="$work/libs" -DANYDNN_CUDA_PTX=80 "$@" >"$work/log" 2>&1; }

configure -DANYDNN_CUDA_ARCHS="80;90;90a" || fail "$(cat "$work/log")"
"$cmake" --build "$work/build" --target dn_cuda_code -j 2 >"$work/log" 2>&1 || fail "$(tail -20 "$work/log")"
holds() { # holds FILE TEXT
    [ "$(cat "$work/build/cuda/cuda_act_naive.$1")" = "$2" ] || fail "$1 holds '$(cat "$work/build/cuda/cuda_act_naive.$1")', not '$2'"
}
holds 80.cubin "sm_80 by 11080"
holds 90.cubin "sm_90 by 11080"
holds 90a.cubin "sm_90a by 12030"
holds 80.ptx "compute_80 by 11080"
grep -q '"cuda_act_naive", 90, 1, 0, 12030)' "$work/build/gen/images.c" || fail "the table lacks 90a by 12.3"
grep -q '"cuda_act_naive", 80, 0, 1, 11080)' "$work/build/gen/images.c" || fail "the table lacks the text by 11.8"
grep -q 'dn_cuda_toolkit = 12030' "$work/build/gen/images.c" || fail "the newest toolkit is 12.3"
grep -q 'src/cuda/view.h' "$work/build/cuda/cuda_act_naive.80.cubin.d" || fail "an include of an include is missing in the list"

! configure -DANYDNN_CUDA_ARCHS=100a || fail "an architecture that no toolkit knows was taken"
grep -q 'makes code for 100a' "$work/log" || fail "$(cat "$work/log")"

tool=$work/build/tools/nvrtc
refused() { # refused TEXT_OF_SOURCE MESSAGE
    echo "$1" >"$work/x.cu"
    ! "$tool" "$work/libs/b/libnvrtc.so.11.2" sm_80 "$work" "$work/x.cu" "$work/x.out" >"$work/log" 2>&1 || fail "'$1' was taken"
    grep -q "$2" "$work/log" || fail "'$1': $(cat "$work/log")"
}
refused '/* make it fail */' "the fake's error"
refused '/* make it warn */' 'a warning counts as an error'
refused '#include "not/there.cuh"' 'there.cuh'
! "$tool" "$work/not-there.so" 2>"$work/log" || fail "a library that is not there was opened"
