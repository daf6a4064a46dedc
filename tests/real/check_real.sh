#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# check_real.sh ANYDNN FOLDER: fetches the vendor's wheels with pip (several gigabytes, once) into FOLDER and asserts what inspect, which and
# check say of each, alone and together on one machine. Not part of make check. With words behind, only the wheels that have one of them.
set -eu
anydnn=$1
folder=$2
shift 2
mkdir -p "$folder/wheels"
folder=$(cd "$folder" && pwd)
failed=0
passed=0
unset LD_LIBRARY_PATH LD_PRELOAD CONDA_PREFIX VIRTUAL_ENV

# distribution, version, platform tag of pip, what the files say, CUDA, number of libraries, system
wheels='nvidia-cudnn-cu12 8.9.7.29 manylinux1_x86_64 8.9.7 12 7 linux
nvidia-cudnn-cu11 8.9.6.50 manylinux1_x86_64 8.9.6 11 7 linux
nvidia-cudnn-cu12 9.1.0.70 manylinux2014_x86_64 9.1.0 12 8 linux
nvidia-cudnn-cu12 9.20.0.48 manylinux_2_27_x86_64 9.20.0 12 8 linux
nvidia-cudnn-cu12 8.9.7.29 win_amd64 8.9.7 12 7 windows
nvidia-cudnn-cu12 9.20.0.48 win_amd64 9.20.0 12 8 windows'

fail() {
    echo "FAILED $name: $*"
    failed=$((failed + 1))
}
# "member": value at some place of the last answer
has() { # MEMBER VALUE
    if grep -qF "\"$1\":	$2" "$folder/out"; then passed=$((passed + 1)); else fail "no \"$1\": $2 in the answer of $asked"; fi
}
has_not() { # MEMBER VALUE
    if grep -qF "\"$1\":	$2" "$folder/out"; then fail "\"$1\": $2 in the answer of $asked"; else passed=$((passed + 1)); fi
}
ask() { # WANTED_CODE ARGUMENTS...
    wanted=$1
    shift
    asked="anydnn $*"
    code=0
    "$anydnn" "$@" --json >"$folder/out" 2>"$folder/err" || code=$?
    if [ "$code" = "$wanted" ]; then passed=$((passed + 1)); else fail "$asked: exit code $code, not $wanted"; fi
}

wanted() { # TEXT WORD...: no words, or one of them in the text
    text=$1
    shift
    [ $# -gt 0 ] || return 0
    for word; do
        case $text in *"$word"*) return 0 ;; esac
    done
    return 1
}

wheel_file() { # DISTRIBUTION VERSION PLATFORM
    find "$folder/wheels" -name "$(echo "$1" | tr - _)-$2-*${3#manylinux}*.whl"
}

fetch() { # DISTRIBUTION VERSION PLATFORM
    [ -n "$(wheel_file "$@")" ] && return
    echo "fetching $1 $2 for $3"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --platform "$3" --dest "$folder/wheels" "$1==$2"
}

unpack() { # WHEEL FOLDER
    [ -d "$2" ] || { echo "unpacking ${1##*/}" && mkdir -p "$2.part" && python3 -m zipfile -e "$1" "$2.part" && mv "$2.part" "$2"; }
}

alone() { # DISTRIBUTION VERSION PLATFORM SAYS CUDA LIBRARIES SYSTEM
    name="$1 $2 $7"
    echo "== $name"
    wheel=$(wheel_file "$1" "$2" "$3")
    root=$folder/$7-$4
    if [ "$7" = linux ]; then site=/usr/lib/python3.11/site-packages library=$site/nvidia/cudnn/lib/libcudnn.so.${4%%.*}
    else site=/Users/u/AppData/Local/Programs/Python/Python311/Lib/site-packages library=$site/nvidia/cudnn/bin/cudnn64_${4%%.*}.dll; fi
    unpack "$wheel" "$root$site"

    if [ "$7" = windows ] && [ "${4%%.*}" = 8 ]; then lacks=1; else lacks=0; fi
    ask $lacks inspect "$wheel"
    has version "\"$4\""
    has cuda "$5"
    has_not id '"mixed-versions"'
    has_not id '"incomplete"'
    # libcudnn_graph of 9.20.0 names libcudnn_engines_tensor_ir, which the wheel does not have yet.
    if [ "$7 $4" = 'linux 9.20.0' ]; then has id '"named-not-here"'; else has_not id '"named-not-here"'; fi
    ask $lacks inspect --root "$root" "$library"
    has version "\"$4\""
    has abi "${4%%.*}"
    has arch '"x86-64"'

    ask $lacks check --root "$root"
    has version "\"$4\""
    has cuda "$5"
    has system "\"$7\""
    has complete true
    has package "\"$1\""
    has kind '"wheel"'
    libraries=$(grep -c '"kind":	"\(elf\|pe\)"' "$folder/out")
    [ "$libraries" = "$6" ] || fail "$libraries libraries, not $6"
    if [ $lacks = 1 ]; then has id '"no-zlibwapi"'; else has_not id '"no-zlibwapi"'; fi
    ask $lacks check --root "$root" --require "$4"
    ask 1 check --root "$root" --require 'cudnn>99'
    has id '"requirement-not-met"'
    if [ "$7" = linux ]; then
        # Of this machine, which has what cuDNN itself needs.
        ask 0 which --env LD_LIBRARY_PATH="$root${library%/*}" --needs "libcudnn.so.${4%%.*}"
        has loaded "\"$root$library\""
        has rule '"LD_LIBRARY_PATH"'
    fi
}

# Two versions of one major: the sub-libraries of the first on the variable, libcudnn of the second.
together() { # VERSION OTHER
    name="$1 and $2 together"
    root=$folder/together-$1-$2
    [ -d "$folder/linux-$1" ] && [ -d "$folder/linux-$2" ] || return 0
    echo "== $name"
    from=usr/lib/python3.11/site-packages
    for version in "$1" "$2"; do
        [ -d "$root/opt/$version" ] || { mkdir -p "$root/opt/$version" && cp -al "$folder/linux-$version/$from/nvidia/cudnn/lib" "$root/opt/$version/lib"; }
    done
    major=${1%%.*}
    ask 1 check --root "$root" --env LD_LIBRARY_PATH="/opt/$1/lib:/opt/$2/lib"
    has id '"older-copy-first"'
    has version "\"$1\""
    has version "\"$2\""
    has loaded "\"/opt/$1/lib/libcudnn.so.$major\""
    ask 0 check --root "$root" --env LD_LIBRARY_PATH="/opt/$2/lib:/opt/$1/lib"
    has_not id '"older-copy-first"'
    ask 0 which --env LD_LIBRARY_PATH="$root/opt/$2/lib:$root/opt/$1/lib" --needs "libcudnn.so.$major"
    has loaded "\"$root/opt/$2/lib/libcudnn.so.$major\""

    # A part is missing in the first folder: the loader takes it from the second.
    name="$name, a part missing"
    if [ "$major" = 8 ]; then part=libcudnn_cnn_infer.so.8; else part=libcudnn_cnn.so.9; fi
    rm -f "$root/opt/$1/lib/$part"
    ask 1 check --root "$root" --env LD_LIBRARY_PATH="/opt/$1/lib:/opt/$2/lib"
    has id '"incomplete"'
    has id '"mixed-load"'

    # A part of the other version in its place.
    name="$name, then of the other version"
    cp -l "$root/opt/$2/lib/$part" "$root/opt/$1/lib/$part"
    ask 1 check --root "$root" --env LD_LIBRARY_PATH="/opt/$1/lib"
    has id '"mixed-versions"'
    rm -rf "$root"
}

echo "$wheels" >"$folder/list"
while read -r distribution version platform says cuda libraries system; do
    wanted "$distribution $version $platform" "$@" || continue
    fetch "$distribution" "$version" "$platform"
    alone "$distribution" "$version" "$platform" "$says" "$cuda" "$libraries" "$system"
done <"$folder/list"
together 8.9.6 8.9.7
together 9.1.0 9.20.0

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
