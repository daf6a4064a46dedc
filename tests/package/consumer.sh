#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# consumer.sh WAY PREFIX ABI SCRATCH: builds and runs a user's program against an installed copy.
# WAY is one of the names in the case below.
set -eu
way=$1
prefix=$2
abi=$3
scratch=$4
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}
unset LD_LIBRARY_PATH LIBRARY_PATH C_INCLUDE_PATH CPATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH
unset CUDNN_ROOT CUDNN_PATH CUDNN_LOGDEST_DBG CUDNN_LOGLEVEL_DBG

case $abi in
8) full=8.9.7 only="-lcudnn_ops_infer" ;;
9) full=9.19.0 only="-lcudnn_ops -lcudnn_graph" ;;
esac
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

die() {
    echo "consumer.sh $way: $*" >&2
    exit 1
}
# Compiles and links `use` with the given flags, with nothing but what lies in this prefix: a cuDNN
# elsewhere on the machine must not make the test pass.
build_use() {
    $cc -o use "$@" "-Wl,-rpath,$prefix/lib" -MMD -MF use.d -Wl,--trace >use.trace
    sed 's/\\\(.\)/\1/g' use.d | grep -F "$prefix/" | grep -q 'cudnn\.h' || die "cudnn.h did not come from $prefix"
    grep 'libcudnn' use.trace | grep -vF "$prefix/" && die "a libcudnn from elsewhere was linked"
    grep -q 'libcudnn' use.trace || die "no libcudnn was linked"
}
# The program must have bound to the library that was linked, in this prefix. ldd follows NEEDED.
loads() { # loads PROGRAM SONAME
    ldd "$1" | grep -F "$2 => $prefix/lib/" >/dev/null || die "$1 does not load $2 from $prefix/lib"
}
run_cmake() { # run_cmake SOURCE PREFIX OPTIONS...
    from=$1
    root=$2
    shift 2
    cmake -S "$from" -B cmake -DWANT="$abi" -DFULL="$full" "$@" >cmake.log 2>&1 || { cat cmake.log; die "configuring failed"; }
    cmake --build cmake >cmake.log 2>&1 || { cat cmake.log; die "building failed"; }
    sed -n 's/^\(CUDNN_DIR\|[cC][uU]DNN_\(LIBRARY\|INCLUDE_DIR\)\):[A-Z]*=//p' cmake/CMakeCache.txt >found
    [ -s found ] || die "nothing was found"
    grep -vF "$root/" found && die "the above was found outside $root"
    (cd cmake && ctest --output-on-failure) >cmake.log 2>&1 || { cat cmake.log; die "a program failed"; }
    grep -q '100% tests passed' cmake.log || die "no program ran"
}

case $way in
plain)
    build_use "$here/use_cudnn.c" -I "$prefix/include" -L "$prefix/lib" -lcudnn
    loads use "libcudnn.so.$abi"
    [ "$(./use)" = "cuDNN $full" ] || die "the program failed"
    ;;
sub_only)
    # shellcheck disable=SC2086
    build_use "$here/use_cudnn.c" -I "$prefix/include" -L "$prefix/lib" $only
    ! readelf -d use | grep NEEDED | grep -F "[libcudnn.so.$abi]" || die "the program was linked with libcudnn itself"
    [ "$(./use)" = "cuDNN $full" ] || die "the program failed"
    ;;
both)
    # shellcheck disable=SC2086
    $cc -shared -fPIC -o libvia_sub.so "$here/via_sub.c" -I "$prefix/include" -L "$prefix/lib" "-Wl,-rpath,$prefix/lib" $only
    $cc -o use "$here/use_both.c" -I "$prefix/include" -L . -lvia_sub -L "$prefix/lib" -lcudnn "-Wl,-rpath,$PWD:$prefix/lib"
    loads use "libcudnn.so.$abi"
    ./use
    ;;
find_package)
    run_cmake "$here/find_package" "$prefix" -DCMAKE_PREFIX_PATH="$prefix"
    ;;
find_module)
    run_cmake "$here/find_module" "$prefix" -DCUDNN_ROOT="$prefix"
    ;;
pkg_config)
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    [ "$(pkg-config --modversion cudnn)" = "$full" ] || die "pkg-config gives version $(pkg-config --modversion cudnn)"
    # The flags are quoted for a shell, as make and configure pass them on.
    eval "build_use '$here/use_cudnn.c' $(pkg-config --cflags --libs cudnn)"
    loads use "libcudnn.so.$abi"
    [ "$(./use)" = "cuDNN $full" ] || die "the program failed"
    ;;
moved)
    # An installed tree may be moved: nothing in it holds the place it was installed to.
    cp -a "$prefix" "$scratch/a new place"
    if grep -rlF "$prefix" "$scratch/a new place"; then
        die "these files name the prefix"
    fi
    run_cmake "$here/find_package" "$scratch/a new place" -DCMAKE_PREFIX_PATH="$scratch/a new place"
    ;;
*)
    die "unknown way"
    ;;
esac
