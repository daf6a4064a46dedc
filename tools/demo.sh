#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# demo.sh BUILD DIST: from the packed archive to a trained network, as a user would do it: unpack the
# archive into a scratch prefix, compile the example against that prefix alone, run it.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
demo=$build/demo
version=$(sed -n 's/^set(DN_ANYDNN_VERSION "\(.*\)")$/\1/p' "$build/package/facts.cmake")
archive=$(echo "$dist/anydnn-linux-"*"-${version}_abi8-archive.tar.xz")
data=$source/examples/digits.csv

rm -rf "$demo"
mkdir -p "$demo/prefix"
(cd "$dist" && sha256sum --quiet -c "$(basename "$archive").sha256")
tar -C "$demo/prefix" --strip-components=1 -xJf "$archive"
echo "cc train_digits.c -I prefix/include -L prefix/lib -lcudnn"
${CC:-cc} -O2 -o "$demo/train_digits" "$source/examples/train_digits.c" \
    -I "$demo/prefix/include" -L "$demo/prefix/lib" "-Wl,-rpath,$demo/prefix/lib" -lcudnn -lm
cd "$demo"
exec ./train_digits "$data" "$demo/loss.svg"
