#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# archive_test.sh BUILD ABI SCRATCH: packs an ABI twice and looks at the result: same bytes, checksum,
# one top folder, links kept as links, owner and modes, stripped and small.
set -eu
build=$1
abi=$2
scratch=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
die() {
    echo "archive_test.sh: $*" >&2
    exit 1
}
# The staging folder is the build's; a copy of the facts in a build of our own keeps test runs apart.
for round in 1 2; do
    rm -rf "${scratch:?}/$round"
    mkdir -p "$scratch/$round/build/package" "$scratch/$round/dist"
    cp "$build/package/facts.cmake" "$scratch/$round/build/package/facts.cmake"
done
(umask 022 && sh "$source/tools/dist.sh" "$scratch/1/build" "$scratch/1/dist" "$abi" >/dev/null)
sleep 1
(umask 077 && sh "$source/tools/dist.sh" "$scratch/2/build" "$scratch/2/dist" "$abi" >/dev/null)

cd "$scratch/1/dist"
archive=$(ls ./*.tar.xz)
archive=${archive#./}
name=${archive%.tar.xz}
case $name in
anydnn-linux-x86_64-*_abi"$abi"-archive | anydnn-linux-sbsa-*_abi"$abi"-archive) ;;
*) die "the archive is named $archive" ;;
esac
cmp "$archive" "$scratch/2/dist/$archive" || die "packing twice gave different bytes"
sha256sum -c "$archive.sha256" >/dev/null || die "the checksum does not fit"
[ "$(wc -l <"$archive.sha256")" = 1 ] || die "the checksum file does not hold one line"

tar -tvJf "$archive" >list
awk '{ print $2 }' list | sort -u | grep -qx '0/0\|root/root' || die "an entry is not root's"
[ "$(awk '{ print $2 }' list | sort -u | wc -l)" = 1 ] || die "entries have different owners"
[ "$(tar -tJf "$archive" | cut -d/ -f1 | sort -u)" = "$name" ] || die "not one top folder named $name"
tar -tJf "$archive" | LC_ALL=C sort -c || die "entries are not sorted"
! grep -v '^l' list | grep -q '^.......[-r]w\|^.....w' || die "an entry may be written by others"

tar -xJf "$archive"
cd "$name"
case $(ls | tr '\n' ' ') in
'LICENSE include lib ' | 'LICENSE NOTICE include lib ' | 'LICENSE bin include lib libexec share ' | 'LICENSE NOTICE bin include lib libexec share ') ;;
*) die "the top folder holds $(ls)" ;;
esac
if [ -x "$build/bin/anydnn" ]; then
    [ "$(bin/anydnn --version)" = "$("$build/bin/anydnn" --version)" ] || die "bin/anydnn does not run"
    for file in man/man1/anydnn.1 man/man1/anydnn-check.1 bash-completion/completions/anydnn zsh/site-functions/_anydnn \
        fish/vendor_completions.d/anydnn.fish; do
        [ -s "share/$file" ] || die "share/$file is missing"
    done
    # find takes dnbench from libexec and the lists from share.
    ANYDNN_ENGINE=ref bin/anydnn find -q --tune "$PWD/../tune.txt" --model mobilenet_v2 --forward --filter ref_conv_fwd_gemm || die "find in the archive"
    [ "$(grep -c '^ref ' ../tune.txt)" = 30 ] || die "find in the archive did not time 30 problems"
fi
grep -q 'Apache License' LICENSE
case $abi in
8) full=8.9.7 subs="ops_infer ops_train cnn_infer cnn_train adv_infer adv_train" ;;
9) full=9.19.0 subs="graph ops cnn adv engines_precompiled engines_runtime_compiled heuristic" ;;
esac
for lib in cudnn $(for sub in $subs; do echo "cudnn_$sub"; done); do
    [ "$(readlink "lib/lib$lib.so")" = "lib$lib.so.$abi" ] || die "lib$lib.so is not a link to lib$lib.so.$abi"
    [ "$(readlink "lib/lib$lib.so.$abi")" = "lib$lib.so.$full" ] || die "lib$lib.so.$abi is not a link to lib$lib.so.$full"
    [ -f "lib/lib$lib.so.$full" ] && [ ! -L "lib/lib$lib.so.$full" ] || die "lib$lib.so.$full is not a file"
    ! readelf -SW "lib/lib$lib.so.$full" | grep -q '\.debug_info\|\.symtab' || die "lib$lib.so.$full is not stripped"
done
# Without kernels the library is small; with all of them the archive is.
size=$(wc -c <"lib/libcudnn.so.$full")
grep -q : "$build/gen/images.txt" || [ "$size" -lt 2000000 ] || die "libcudnn.so.$full has $size bytes, not under 2,000,000"
[ "$(wc -c <"../$archive")" -lt 60000000 ] || die "$archive is 60 MB or more"
for header in include/cudnn*.h; do
    base=$(basename "$header" .h)
    case $base in
    *_v"$abi") [ "$(readlink "$header")" = "${base%_v"$abi"}.h" ] || die "$header is not a link" ;;
    *) [ -f "include/${base}_v$abi.h" ] || die "include/${base}_v$abi.h is missing" ;;
    esac
done
[ -f include/anydnn.h ] && [ -f include/cudnn_version.h ] || die "a header is missing"
! grep -rlF "$source" . || die "these files name the place they were built in"
