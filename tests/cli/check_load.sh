#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# More than one copy: what is loaded, what is hidden, what is mixed; the variable and the cache.
. "$(dirname "$0")/check_common.sh"

machine "T17 malformed elements of LD_LIBRARY_PATH"
copy_of 8.9.7 /usr/lib64
check --env LD_LIBRARY_PATH='/usr/local/cuda/lib64\${LD::~/lib:"/a": /b:lib'
finds bad-path-element "a variable that no shell has replaced"
finds bad-path-element "an empty element"
finds bad-path-element "a ~ that no shell has replaced"
finds bad-path-element "a quotation mark"
finds bad-path-element "a space at an end"
finds bad-path-element "a relative directory"
check --env LD_LIBRARY_PATH='/a:$ORIGIN/../lib:${LIB}/x'
finds_not bad-path-element

machine "T18 one sub-library from another version"
copy_of 9.20.0 /opt/a/lib 'runpath=$ORIGIN'
copy_of 9.22.0 /usr/lib64 'runpath=$ORIGIN'
check --env LD_LIBRARY_PATH=/opt/a/lib
finds mixed-load "libcudnn_engines_tensor_ir.so.9 9.22.0"
finds_not incomplete
[ "$(grep -c '"mixed-load"' "$work/out")" = 1 ] || fail "only one part comes from elsewhere"
machine "T18 alone"
copy_of 9.20.0 /usr/lib64 'runpath=$ORIGIN'
library /usr/lib64 _graph 9.20.0 'runpath=$ORIGIN' text=libcudnn_engines_tensor_ir.so text=libcudnn_heuristic.so
check
is_code 0
finds named-not-here libcudnn_engines_tensor_ir.so.9

machine "T21 sub-libraries from LD_LIBRARY_PATH"
site=/usr/lib/python3.11/site-packages
# With a RUNPATH of its own, libcudnn does not inherit the RPATH of the library that asked for it.
copy_of 8.9.2 $site/nvidia/cudnn/lib 'runpath=$ORIGIN'
copy_of 8.6.0 /usr/local/cuda-11.8/lib64
distribution $site torch 2.2.0+cu121
mkdir -p "$root$site/torch/lib"
"$mkelf" "$root$site/torch/lib/libtorch_cuda.so" soname=libtorch_cuda.so needed=libcudnn.so.8 'rpath=$ORIGIN/../../nvidia/cudnn/lib'
check --env LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64
finds mixed-load "PyTorch 2.2.0+cu121 gets libcudnn 8.9.2 from $site/nvidia/cudnn/lib/libcudnn.so.8.9.2, but libcudnn_ops_infer.so.8 8.6.0"
finds mixed-load "unset LD_LIBRARY_PATH"
says "\"gets\":	\"$site/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.8\""

machine "T22 a copy that no search reaches"
copy_of 8.9.7 /opt/b/lib
check --env LD_LIBRARY_PATH=/opt/c
says '"loaded":	null'

# cache: as ldconfig would write it for the tree. Root: ldconfig -r. Else ldconfig writes the paths of this machine, which the tree has too, below $at.
cache() {
    if [ -z "$at" ]; then
        ldconfig -r "$root" 2>"$work/err"
    else
        ldconfig -X -f "$root/etc/ld.so.conf" -C "$root/etc/ld.so.cache" 2>"$work/err"
    fi
}
seen() { # NAME: a machine whose files this machine sees under the same paths, but for root
    machine "$1${2:+ ($2)}"
    at=
    [ "$2" = "as root" ] && return 0
    at=$work/seen
    rm -f "$at"
    mkdir -p "$root$at"
    ln -s "$root$at" "$at"
}
for who in "as root" "without root"; do
    command -v ldconfig >/dev/null || { echo "T25, T56: skipped, there is no ldconfig" && continue; }
    [ "$who" != "as root" ] || [ "$(id -u)" = 0 ] || { echo "T25, T56 as root: skipped, this user is not root" && continue; }
    seen "T25 the loader and readers of the cache differ" "$who"
    copy_of 8.9.7 "$at/opt/a/lib"
    copy_of 8.9.2 "$at/opt/b/lib"
    echo "$at/opt/b/lib" >"$root/etc/ld.so.conf"
    cache || fail "ldconfig: $(cat "$work/err")"
    check --env "LD_LIBRARY_PATH=$at/opt/a/lib"
    finds cache-differs "$at/opt/b/lib/libcudnn.so.8"
    finds shadowed-copies "$at/opt/b/lib/libcudnn.so.8"

    seen "T56 stale cache" "$who"
    mkdir -p "$root$at/opt/a/lib"
    echo "$at/opt/a/lib" >"$root/etc/ld.so.conf"
    cache || fail "ldconfig: $(cat "$work/err")"
    check
    finds_not cache-stale
    copy_of 8.9.7 "$at/opt/a/lib"
    check
    finds cache-stale "ld.so.conf lists $at/opt/a/lib"
    if [ "$who" = "as root" ]; then
        check --fix
    else
        cache
        check
    fi
    finds_not cache-stale
    says "\"loaded\":	\"$at/opt/a/lib/libcudnn.so.8\""
    rm -r "$root$at/opt/a/lib"
    check
    finds cache-stale "it names $at/opt/a/lib/libcudnn"
done

machine "T30 an older copy comes first"
copy_of 8.0.5 /opt/old/lib
copy_of 8.1.0 /opt/new/lib
check --env LD_LIBRARY_PATH=/opt/old/lib:/opt/new/lib
finds older-copy-first "version 8.0.5 in /opt/old/lib/libcudnn.so.8.0.5 hides version 8.1.0"
check --env LD_LIBRARY_PATH=/opt/new/lib:/opt/old/lib
finds_not older-copy-first
finds shadowed-copies /opt/old/lib/libcudnn.so.8

machine "T34 one build twice"
copy_of 9.1.0 /usr/lib64
copy_of 9.1.0 /opt/cudnn-9.1/lib
check
finds duplicate /opt/cudnn-9.1/lib
finds duplicate "the one in /usr/lib64 is loaded"
bytes=$(cat "$root"/opt/cudnn-9.1/lib/libcudnn*.so.9.1.0 | wc -c | tr -d ' ')
finds duplicate "cuDNN 9.1.0 is installed 2 times; $bytes bytes for the others"
[ "$(grep -c '"in_use":	true' "$work/out")" = 1 ] || fail "the copy in use is not marked"

machine "a folder of links is no second copy"
copy_of 9.1.0 /usr/local/opt/cudnn/9.1.0_cuda12_linux-x86_64/lib
mkdir -p "$root/usr/local/lib"
for f in "$root"/usr/local/opt/cudnn/9.1.0_cuda12_linux-x86_64/lib/*.so.9; do
    ln -s "../opt/cudnn/9.1.0_cuda12_linux-x86_64/lib/${f##*/}" "$root/usr/local/lib/${f##*/}"
done
check
finds_not duplicate
finds_not incomplete
says '"package":	"9.1.0_cuda12_linux-x86_64"'
done_all
