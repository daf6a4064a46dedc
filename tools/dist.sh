#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# dist.sh BUILD DIST ABI...: packs each ABI of a build folder as
#   DIST/anydnn-linux-<arch>-<version>_abi<N>-archive.tar.xz   and its .sha256
# One top folder of the same name with include/ lib/ LICENSE, links kept as links. The same tree gives
# the same bytes: entries sorted, owner root, times from SOURCE_DATE_EPOCH or the last commit.
set -eu
build=$1
dist=$2
shift 2
source=$(cd "$(dirname "$0")/.." && pwd)
fact() { sed -n "s/^set($1 \"\(.*\)\")\$/\1/p" "$build/package/facts.cmake"; }
version=$(fact DN_ANYDNN_VERSION)
case $(fact DN_PROCESSOR) in
x86_64 | amd64 | AMD64) platform=linux-x86_64 ;;
aarch64 | arm64) platform=linux-sbsa ;;
*) platform=linux-$(fact DN_PROCESSOR) ;;
esac
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || true)}
# Outside a repository: the newest text that says what changed.
epoch=${epoch:-$(stat -c %Y "$source/CMakeLists.txt")}

mkdir -p "$dist"
for abi in "$@"; do
    name=anydnn-$platform-${version}_abi$abi-archive
    stage=$build/stage
    rm -rf "${stage:?}/$name"
    mkdir -p "$stage/$name"
    cmake -DDN_FACTS="$build/package/facts.cmake" -DDN_PREFIX="$stage/$name" -DDN_INSTALL_ABI="$abi" \
        -P "$source/cmake/install_tree.cmake" >/dev/null
    cp "$source/LICENSE" "$stage/$name/LICENSE"
    [ ! -f "$source/NOTICE" ] || cp "$source/NOTICE" "$stage/$name/NOTICE"
    tar -C "$stage" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu \
        --mode='u+rwX,go+rX,go-w' -cf "$stage/$name.tar" "$name"
    # One thread: the bytes must not depend on the number of cores.
    xz -T1 -6 -f "$stage/$name.tar"
    mv "$stage/$name.tar.xz" "$dist/$name.tar.xz"
    (cd "$dist" && sha256sum "$name.tar.xz" >"$name.tar.xz.sha256")
    rm -rf "${stage:?}/$name"
    echo "$dist/$name.tar.xz ($(wc -c <"$dist/$name.tar.xz") bytes)"
done
