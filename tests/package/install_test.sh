#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# install_test.sh BUILD SCRATCH: `cmake --install` (what make install runs) with DESTDIR and both ABIs,
# one over the other; the last one owns the headers and the bare link, the libraries of both stay.
set -eu
build=$1
scratch=$2
die() {
    echo "install_test.sh: $*" >&2
    exit 1
}
rm -rf "$scratch"
mkdir -p "$scratch"
root=$scratch/root/opt/any
for abi in 8 9 8; do
    ABI=$abi DESTDIR="$scratch/root" cmake --install "$build" --prefix /opt/any >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        die "installing ABI $abi failed"
    }
    [ "$(readlink "$root/lib/libcudnn.so")" = "libcudnn.so.$abi" ] || die "libcudnn.so does not follow ABI=$abi"
    grep -Eq "define CUDNN_MAJOR +$abi" "$root/include/cudnn_version.h" || die "the headers do not follow ABI=$abi"
    grep -q "^Version: $abi\." "$root/lib/pkgconfig/cudnn.pc" || die "cudnn.pc does not follow ABI=$abi"
done
[ -f "$root/lib/libcudnn.so.8.9.7" ] && [ -f "$root/lib/libcudnn.so.9.19.0" ] || die "the libraries of one ABI are gone"
if ABI=7 DESTDIR="$scratch/root" cmake --install "$build" --prefix /opt/any >"$scratch/log" 2>&1; then
    die "ABI=7 was accepted"
fi
grep -q 'ABI=7: the value must be 8 or 9' "$scratch/log" || die "ABI=7 is refused without saying why"
