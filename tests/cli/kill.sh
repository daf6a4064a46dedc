#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# kill.sh ANYDNN MKELF KILL CASE [--all | --full]: a command killed at its system calls leaves the old or the new state (kill.c says how that is seen).
set -eu
anydnn=$1
mkelf=$2
kill=$3
case=$4
all=${5:-}
# Memory is quicker than a disk that is asked to be sure.
[ ! -w /dev/shm ] || TMPDIR=/dev/shm
work=$(mktemp -d "${TMPDIR:-/tmp}/anydnn-kill.XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/store_common.sh"
vendor_tar 8.9.7.28 12 _ops_infer
old=$archive
vendor_tar 9.1.0.71 12 _graph
new=$archive
base=$work/base
mkdir -p "$base/usr/local/lib" "$base/usr/local/include"
# Files of somebody else in the way: a file, and a link to another.
echo "somebody's" >"$base/usr/local/lib/libcudnn.so"
echo "somebody's header" >"$base/usr/local/include/other.h"
ln -s other.h "$base/usr/local/include/cudnn.h"
step() { "$anydnn" "$@" --root "$base" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }; }
case $case in
first) set -- install "$old" ;;
install) step install "$old" && set -- install "$new" ;;
use) step install "$old" && step install "$new" && set -- use 8.9.7 ;;
rollback) step install "$old" && step install "$new" && step use 8.9.7 && set -- rollback ;;
uninstall) step install "$old" && step install "$new" && set -- uninstall 9.1.0 ;;
again) step install "$old" && step rollback && set -- use 8.9.7 ;;
view) mkdir -p "$base/usr/local/cuda/lib64" "$base/usr/local/cuda/include" && echo mine >"$base/usr/local/cuda/lib64/libcudnn.so" &&
    set -- install "$old" --link-into /usr/local/cuda ;;
repair) step install "$old" && echo x >>"$base"/usr/local/opt/cudnn/8.9.7.28-cuda12-linux-x86_64/include/cudnn.h && set -- install "$old" ;;
last) step install "$old" && set -- uninstall 8.9.7 ;;
esac
# shellcheck disable=SC2086
"$kill" $all "$base" "$work" "$anydnn" "$@"
