#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# hostile.sh ANYDNN MKELF MKARCHIVE: archives that do what no archive of cuDNN does are refused with a sentence; nothing is written outside of the store
# and nothing is left in it.
set -eu
anydnn=$1
mkelf=$2
mkarchive=$3
# Memory is quicker than a disk that is asked to be sure.
[ ! -w /dev/shm ] || TMPDIR=/dev/shm
work=$(mktemp -d "${TMPDIR:-/tmp}/anydnn-hostile.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
root=$work/root
top=cudnn-linux-x86_64-9.1.0.71_cuda12-archive
mkdir -p "$work/outside" "$root/usr/local/lib"
echo safe >"$work/outside/file"
"$mkelf" "$work/lib" soname=libcudnn.so.9 version=90100
before=$(find "$work/outside" "$root" -printf '%p %y %s %l\n' | sort)

fail() {
    echo "FAILED $*"
    cat "$work/out"
    failed=1
}

# The archive is refused, its reason has this text, and all is as it was.
refuses() { # REASON ENTRY...
    r_reason=$1
    shift
    "$mkarchive" "$work/$top.tar" from $top/lib/libcudnn.so.9.1.0 "$work/lib" "$@"
    refuses_file "$r_reason" "$work/$top.tar"
}
refuses_file() { # REASON FILE [OPTION...]
    f_reason=$1
    shift
    code=0
    "$anydnn" install --root "$root" "$@" >"$work/out" 2>&1 || code=$?
    [ "$code" = 1 ] || fail "$f_reason: exit code $code"
    grep -qF "$f_reason" "$work/out" || fail "the reason is not \"$f_reason\""
    grep -q '\[refused\]' "$work/out" || fail "$f_reason: not refused"
    after=$(find "$work/outside" "$root" -printf '%p %y %s %l\n' | sort)
    [ "$before" = "$after" ] || fail "$f_reason: something was left or changed: $after"
    [ ! -e "$work/evil" ] && [ ! -e /tmp/anydnn-evil ] || fail "$f_reason: written outside"
}

refuses 'with ".." in it' file $top/lib/../../../../../../../evil 644 x
refuses 'with ".." in it' file ../evil 644 x
refuses "an absolute name" file /tmp/anydnn-evil 644 x
refuses "an absolute name" file C:/evil 644 x
refuses "a backslash" file "$top\\lib\\evil" 644 x
refuses "a link that leads out" link $top/lib/libcudnn.so "$work/outside/file"
refuses "a link that leads out" link $top/lib/libcudnn.so ../../../../outside/file
refuses "a hard link that leads out" hard $top/lib/libcudnn.so "$work/outside/file"
refuses "a hard link that leads out" hard $top/lib/libcudnn.so ../outside/file
refuses "a hard link to what is no file of the archive" hard $top/lib/libcudnn.so $top/lib/none
refuses "a device, a pipe or a socket" char $top/lib/zero
refuses "a device, a pipe or a socket" block $top/lib/disk
refuses "a device, a pipe or a socket" fifo $top/lib/pipe
refuses "the name is used twice" file $top/lib/libcudnn.so.9.1.0 644 x
refuses "the name is used twice" link $top/lib/x libcudnn.so.9.1.0 file $top/lib/x 644 x
refuses "the name is used twice" file ./$top//lib/./libcudnn.so.9.1.0 644 x
# A link to a folder, then a file through it: the classic way out.
refuses "lies below a name that is no folder" link $top/lib/way ../include file $top/lib/way/evil 644 x
refuses "a link to a folder" dir $top/include file $top/include/cudnn.h 644 x link $top/lib/way ../include
refuses "capital letters only" file $top/lib/libCUDNN.so.9.1.0 644 x
refuses "set-user-ID" file $top/bin/tool 4755 x
refuses "set-user-ID" file $top/bin/tool 2755 x
refuses "set-user-ID" file $top/other/tool 1644 x
refuses "a control character" file "$top/lib/a
b" 644 x
refuses "a control character" file "$top/lib/$(printf 'a\033[2Jb')" 644 x
refuses "a control character" link $top/lib/l "$(printf 'a\tb')"
refuses "outside ASCII" file "$top/lib/$(printf 'a\303\244')" 644 x
refuses "more than 255 bytes" file "$top/lib/$(printf '%0300d' 1)" 644 x
refuses "more than 1024 bytes" file "$top/$(printf '%0200d/%0200d/%0200d/%0200d/%0200d/%0200d' 1 2 3 4 5 6)" 644 x
refuses "more than 20000 members" many 20001 $top/share/x
refuses "lies in another folder" file other/lib/libcudnn_ops.so.9 644 x
refuses "Truncated tar archive" size $top/lib/libcudnn_ops.so.9.1.0 99999999
! grep -q "$(printf '\033')" "$work/out" || fail "a control character reached the terminal"

# Bombs: 80 MiB of zeros in a few kilobytes, as a file that belongs to the layout and as one that does not.
for place in lib extra; do
    mkdir -p "$work/bomb/$top/lib" "$work/bomb/$top/extra"
    cp "$work/lib" "$work/bomb/$top/lib/libcudnn.so.9.1.0"
    dd if=/dev/zero of="$work/bomb/$top/$place/zeros" bs=1M count=80 2>/dev/null
    tar -C "$work/bomb" -cJf "$work/$top.tar.xz" $top
    refuses_file "more than 200 times its size" "$work/$top.tar.xz"
    rm -rf "$work/bomb"
done

# What is no archive, what is cut off, what has nothing of cuDNN.
head -c 70000 /dev/urandom >"$work/noise.tar.xz"
refuses_file "the archive" "$work/noise.tar.xz"
mkdir -p "$work/cut/$top/lib"
cp "$work/lib" "$work/cut/$top/lib/libcudnn.so.9.1.0"
head -c 100000 /dev/urandom >"$work/cut/$top/lib/other"
tar -C "$work/cut" -cJf "$work/whole.tar.xz" $top
head -c 60000 "$work/whole.tar.xz" >"$work/$top.tar.xz"
refuses_file "The archive is refused" "$work/$top.tar.xz"
"$mkarchive" "$work/$top.tar" file $top/readme/text 644 x
refuses_file "has no folder include, lib, lib64 or bin" "$work/$top.tar"
"$mkarchive" "$work/$top.tar" file $top/lib/libcudnn.so.9.1.0 644 "<!DOCTYPE html><html>login</html>"
refuses_file "is a web page" "$work/$top.tar"

# What the fuzzer of the reader keeps: none of it is a whole archive.
for file in "$(dirname "$0")"/../fuzz/corpus/members/*; do
    [ "$(basename "$file")" = zip.zip ] || refuses_file "The archive is refused" "$file"
done

# T11: for another processor, and cut off inside the archive.
mkdir -p "$root/bin" && "$mkelf" "$root/bin/sh" soname=sh
before=$(find "$work/outside" "$root" -printf '%p %y %s %l\n' | sort)
"$mkelf" "$work/arm" soname=libcudnn.so.9 version=90100 machine=aarch64
"$mkarchive" "$work/$top.tar" from $top/lib/libcudnn.so.9.1.0 "$work/arm"
refuses_file "is for aarch64; this machine is x86-64" "$work/$top.tar"
"$mkelf" "$work/cut.so" soname=libcudnn.so.9 version=90100 cut=300
"$mkarchive" "$work/$top.tar" from $top/lib/libcudnn.so.9.1.0 "$work/cut.so"
refuses_file "is cut off" "$work/$top.tar"
refuses "is for another processor" from $top/lib/libcudnn_ops.so.9.1.0 "$work/arm"
"$mkelf" "$work/ops" soname=libcudnn_ops.so.9 version=90200
refuses "is of another version" from $top/lib/libcudnn_ops.so.9.1.0 "$work/ops"
exit "$failed"
