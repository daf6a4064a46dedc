#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# check_store.sh BUILD FOLDER: install, list, use, verify, rollback and uninstall over real packages: the vendor's wheels (FOLDER/wheels, which
# check_real.sh fetches), the vendor's archives rebuilt from them (FOLDER/archives, vendor_archives.sh) and ours (FOLDER/dist, dist.sh). After each step the
# headers, -lcudnn, pkg-config, find_package and programs that were linked before must have the version in use. Needs a C compiler, cmake,
# pkg-config, and about 10 GB in FOLDER. Not part of make check. With words behind, only the packages that have one of them ("several": the last part).
set -eu
build=$(cd "$1" && pwd)
folder=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
shift 2
words=$*
anydnn=$build/bin/anydnn
store=$folder/store
prefix=$store/prefix
passed=0
failed=0
step=
unset LD_LIBRARY_PATH LD_PRELOAD CPATH LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH ANYDNN_TUNE
export ANYDNN_ENGINE=ref

fail() {
    echo "FAILED $step: $*"
    failed=$((failed + 1))
}
check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else fail "$what"; fi
}
ask() { # WANTED_CODE ARGUMENTS...: the answer as JSON in `out`
    wanted=$1
    shift
    asked="anydnn $*"
    code=0
    "$anydnn" "$@" --json >"$store/out" 2>"$store/err" || code=$?
    check "$asked: exit code $code, not $wanted: $(head -c 600 "$store/err") $(grep -F '"what"' "$store/out" | head -n 3)" [ "$code" = "$wanted" ]
}
has() { check "no \"$1\": $2 in the answer of $asked" grep -qF "\"$1\":	$2" "$store/out"; } # MEMBER VALUE
# What is below the prefix: names, kinds, links, sizes and modes.
snapshot() { (cd "$prefix" && find . -printf '%y %p %l %m ' \( -type f -printf '%s\n' -o -printf '\n' \) | LC_ALL=C sort) >"$1"; }

cat_program() {
    cat <<'C'
#include <cudnn.h>
#include <stdio.h>
int main(void)
{
    printf("%d %lu\n", CUDNN_VERSION, (unsigned long)cudnnGetVersion());
    return 0;
}
C
}
# The vendor's cudnn.h includes cuda_runtime.h. Where no toolkit is installed, its few types stand in.
cuda_headers() {
    mkdir -p "$store/cuda"
    if ! echo '#include <cuda_runtime.h>' | cc -E - >/dev/null 2>&1; then
        for path in /usr/local/cuda/include /usr/local/cuda/targets/x86_64-linux/include; do
            [ ! -f "$path/cuda_runtime.h" ] || cuda=$path
        done
        if [ "$cuda" = "$store/cuda" ]; then
            printf '#include <stddef.h>\ntypedef struct CUstream_st *cudaStream_t;\n' >"$cuda/cuda_runtime.h"
            printf 'typedef enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;\n' >"$cuda/library_types.h"
        fi
    fi
}
cuda=$store/cuda

# sees VERSION NUMBER: everything that builds or starts gets this version
sees() {
    wanted="$2 $2"
    # as a compiler, a linker and the loader find it
    check "cc -lcudnn" cc -I"$prefix/include" -I"$cuda" "$store/program.c" -L"$prefix/lib" -lcudnn -Wl,--allow-shlib-undefined -o "$store/plain"
    check "the program of -lcudnn says $(run "$store/plain"), not $wanted" [ "$(run "$store/plain")" = "$wanted" ]
    # pkg-config
    version=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion cudnn 2>&1 || true)
    check "pkg-config says $version, not $1" [ "$version" = "$1" ]
    # shellcheck disable=SC2046
    check "cc with pkg-config" cc "$store/program.c" -I"$cuda" $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs cudnn) \
        -Wl,--allow-shlib-undefined -o "$store/packaged"
    check "the program of pkg-config says $(run "$store/packaged"), not $wanted" [ "$(run "$store/packaged")" = "$wanted" ]
    # find_package
    rm -rf "$store/cmake"
    check "find_package: $(tail -n 3 "$store/cmake.log" 2>/dev/null)" found_by_cmake "$1"
    check "the program of find_package says $(run "$store/cmake/program"), not $wanted" [ "$(run "$store/cmake/program")" = "$wanted" ]
    # a program that was linked with this ABI at the first sight of it
    before=$store/linked-${1%%.*}
    [ -x "$before" ] || cp "$store/plain" "$before"
    ran=$(run "$before")
    check "the program that was linked before runs with ${ran#* }, not $2" [ "${ran#* }" = "$2" ]
}
run() { LD_LIBRARY_PATH=$prefix/lib "$1" 2>&1 || true; }
found_by_cmake() {
    mkdir -p "$store/source"
    cp "$store/program.c" "$store/source/program.c"
    cat >"$store/source/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.18)
project(program C)
find_package(CUDNN $1 EXACT REQUIRED)
add_executable(program program.c)
target_include_directories(program PRIVATE "$cuda")
target_link_libraries(program PRIVATE CUDNN::cudnn)
target_link_options(program PRIVATE -Wl,--allow-shlib-undefined)
CMAKE
    cmake -S "$store/source" -B "$store/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$store/cmake.log" 2>&1 &&
        cmake --build "$store/cmake" >>"$store/cmake.log" 2>&1
}
# verified VERSION: levels 1 and 2 pass without a warning in the shell that env makes, and no file is another one than was installed
verified() {
    (
        eval "$("$anydnn" env --prefix "$prefix" --abi "${1%%.*}" shell)"
        export CPATH="$CPATH:$cuda"
        "$anydnn" verify --level 1 --level 2 "$prefix/lib/libcudnn.so.${1%%.*}" --json >"$store/out" 2>"$store/err"
    ) && code=0 || code=$?
    asked="anydnn verify"
    check "verify: exit code $code: $(head -c 600 "$store/err") $(grep -F '"what"' "$store/out" | head -n 3)" [ $code = 0 ]
    check "not both levels of verify pass" [ "$(grep -cF '"result":	"pass"' "$store/out")" = 2 ]
    has version "\"$1\""
    ask 0 list --checksums --prefix "$prefix"
}
sum_of() { sha256sum "$1" | cut -d' ' -f1; }
installed() { # FILE OPTION...
    file=$1
    shift
    ask 0 --facts "$store/cudnn_archives.tsv" install "$file" --sha256 "$(sum_of "$file")" --prefix "$prefix" "$@"
}
# The rebuilt archives have published names and other bytes: a table of their checksums, as the tool's own.
facts() {
    "$anydnn" facts cudnn_archives | head -n 1
    for file in "$folder"/archives/*.tar.xz "$folder"/archives/*.zip; do
        printf 'cudnn\t\t\t\t%s\t%s\t%s\trebuilt\n' "${file##*/}" "$(sum_of "$file")" "$(wc -c <"$file")"
    done
}
is_wanted() { # NAME
    [ -n "$words" ] || return 0
    for word in $words; do
        case $1 in *"$word"*) return 0 ;; esac
    done
    return 1
}
number() { # VERSION
    echo "$1" | awk -F. '{ print $1 * ($1 >= 9 ? 10000 : 1000) + $2 * 100 + $3 }'
}

# one FILE VERSION: into a prefix that has other files in the way, and out again
one() {
    step="${1##*/}"
    is_wanted "$step" || return 0
    echo "== $step"
    rm -rf "$prefix" "$store"/linked-*
    mkdir -p "$prefix/include" "$prefix/lib"
    echo '/* another one */' >"$prefix/include/cudnn.h"
    echo 'ours' >"$prefix/lib/keep.txt"
    ln -s libcudnn.so.7.6.5 "$prefix/lib/libcudnn.so"
    snapshot "$store/before"
    # A wrong checksum changes nothing; nor does one that is right but not that of the published archive of this name.
    ask 1 install "$1" --sha256 0000000000000000000000000000000000000000000000000000000000000000 --prefix "$prefix"
    has id '"checksum-mismatch"'
    case $1 in
    "$folder"/archives/*.tar.xz | "$folder"/archives/*.zip)
        ask 1 install "$1" --sha256 "$(sum_of "$1")" --prefix "$prefix"
        has id '"checksum-mismatch"'
        ;;
    esac
    unchanged "a refused install"
    installed "$1" --dry-run ${3:+--any-machine}
    unchanged "--dry-run"
    if [ "${3:-}" = windows ]; then
        ask 1 --facts "$store/cudnn_archives.tsv" install "$1" --prefix "$prefix"
        unchanged "the refusal of another system's archive"
        installed "$1" --any-machine
        check "no cudnn64_8.dll in bin" [ -s "$prefix/bin/cudnn64_8.dll" ]
    else
        installed "$1"
        sees "$2" "$(number "$2")"
        verified "$2"
    fi
    ask 0 list --prefix "$prefix"
    has version "\"$2"
    ask 0 uninstall "$2" --prefix "$prefix"
    unchanged uninstall
}
unchanged() { # WHAT
    snapshot "$store/after"
    check "$1 leaves another prefix: $(diff "$store/before" "$store/after" | head -n 4)" cmp -s "$store/before" "$store/after"
}

many() {
    step="several side by side"
    is_wanted several || return 0
    echo "== $step"
    rm -rf "$prefix" "$store"/linked-*
    mkdir -p "$prefix"
    snapshot "$store/before"
    installed "$archive8"
    sees 8.9.7 8907
    installed "$archive86" --no-use
    sees 8.9.7 8907
    ask 0 use 8.9.6 --prefix "$prefix"
    sees 8.9.6 8906
    installed "$archive9"
    sees 9.1.0 90100
    # The program of ABI 8 still has the one that was in use for it.
    check "the program of ABI 8" [ "$(run "$store/linked-8" | cut -d' ' -f2)" = 8906 ]
    installed "$ours9"
    sees 9.19.0 91900
    verified 9.19.0
    ask 0 list --prefix "$prefix"
    for version in 8.9.7 8.9.6 9.1.0 9.19.0; do has version "\"$version"; done
    ask 0 rollback --prefix "$prefix"
    sees 9.1.0 90100
    ask 0 use 8.9.7 --prefix "$prefix"
    sees 8.9.7 8907
    ask 0 rollback --prefix "$prefix"
    sees 9.1.0 90100
    for version in 9.19.0 8.9.6 8.9.7 9.1.0; do ask 0 uninstall "$version" --prefix "$prefix"; done
    unchanged "the last uninstall"
}

# careful FILE VERSION SPEED: what a careful engineer does by hand (checksum, unpack, copy with links, the loader's path, a look, a program
# compiled and run, a convolution timed) as one command, and undone by one. SPEED: what level 3 can say of this library on this machine.
careful() {
    step="in one command: ${1##*/}"
    is_wanted "$step" || return 0
    echo "== $step"
    rm -rf "$prefix"
    mkdir -p "$prefix/lib"
    echo 'ours' >"$prefix/lib/keep.txt"
    snapshot "$store/before"
    (cd "${1%/*}" && sha256sum "${1##*/}") >"$store/sums"
    code=0
    ANYDNN_ENGINE='' LD_LIBRARY_PATH=$prefix/lib CPATH=$cuda "$anydnn" --facts "$store/cudnn_archives.tsv" install "$1" --sha256 "$store/sums" --prefix "$prefix" --verify --json \
        >"$store/out" 2>"$store/err" || code=$?
    asked="anydnn install --verify"
    check "exit code $code: $(head -c 600 "$store/err") $(grep -F '"what"' "$store/out" | head -n 4)" [ $code = 0 ]
    has checked_by '"the checksum given"'
    has 'done' true
    check "levels" [ "$(grep -F '"result":' "$store/out" | tr -d '\t",' | tr '\n' ' ')" = "result:pass result:pass result:$3 " ]
    sees "$2" "$(number "$2")"
    ask 0 uninstall "$2" --prefix "$prefix"
    unchanged uninstall
}

rm -rf "$store"
mkdir -p "$store"
cat_program >"$store/program.c"
cuda_headers
sh "$here/vendor_archives.sh" "$folder"
sh "$here/../../tools/dist.sh" "$build" "$folder/dist" 8 9 >/dev/null
archive8=$folder/archives/cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz
archive86=$folder/archives/cudnn-11.8-linux-x64-v8.9.6.50.tgz
archive9=$folder/archives/cudnn-linux-x86_64-9.1.0.70_cuda12-archive.tar.xz
ours8=$(ls "$folder"/dist/anydnn-*_abi8-archive.tar.xz)
windows=$folder/archives/cudnn-windows-x86_64-8.9.7.29_cuda12-archive.zip
ours9=$(ls "$folder"/dist/anydnn-*_abi9-archive.tar.xz)

# The vendor's library computes only where there is a GPU.
if [ -e /dev/nvidiactl ]; then without_gpu=pass; else without_gpu=skip; fi
facts >"$store/cudnn_archives.tsv"

one "$(ls "$folder"/wheels/nvidia_cudnn_cu12-8.9.7.29-*manylinux*.whl)" 8.9.7
one "$(ls "$folder"/wheels/nvidia_cudnn_cu11-8.9.6.50-*manylinux*.whl)" 8.9.6
one "$(ls "$folder"/wheels/nvidia_cudnn_cu12-9.20.0.48-*manylinux*.whl)" 9.20.0
one "$archive8" 8.9.7
one "$archive86" 8.9.6
one "$archive9" 9.1.0
one "$windows" 8.9.7 windows
one "$ours8" 8.9.7
one "$ours9" 9.19.0
careful "$ours9" 9.19.0 pass
careful "$archive9" 9.1.0 "$without_gpu"
many

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
