#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# install.sh ANYDNN MKELF CC CASE: install, list, use, rollback, uninstall on a tree that stands for the machine. T cases are named as in the field
# reports.
set -eu
anydnn=$1
mkelf=$2
cc=$3
case=$4
# Memory is quicker than a disk that is asked to be sure.
[ ! -w /dev/shm ] || TMPDIR=/dev/shm
work=$(mktemp -d "${TMPDIR:-/tmp}/anydnn-install.XXXXXX")
# A user without rights must be able to walk in.
chmod 755 "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
. "$(dirname "$0")/store_common.sh"
unset LD_LIBRARY_PATH LD_PRELOAD
failed=0
root=$work/root
local=$root/usr/local
store=$local/opt/cudnn
mkdir -p "$root"

fail() {
    echo "FAILED $case: $*"
    cat "$work/out"
    failed=1
}
# Runs the tool on the tree; its exit code must be CODE.
tool() { # CODE COMMAND...
    w_code=$1 code=0
    shift
    "$anydnn" "$@" --root "$root" >"$work/out" 2>&1 || code=$?
    [ "$code" = "$w_code" ] || fail "exit code $code of: anydnn $*"
}
says() { grep -qF -- "$1" "$work/out" || fail "does not say: $1"; }
says_not() { ! grep -qF -- "$1" "$work/out" || fail "says: $1"; }
leads() { # NAME FILE: the link in PREFIX leads to that file of the store
    [ "$(readlink -f "$local/$1")" = "$store/$2" ] || fail "$1 leads to $(readlink -f "$local/$1"), not to $2"
}
gone() { [ ! -e "$local/$1" ] && [ ! -L "$local/$1" ] || fail "$1 is there"; }
snapshot() { find "$root" ! -name .lock -printf '%p %y %s %l %m\n' | sort; }

# A real library for each ABI that says its version, and a program that asks it.
real_tar() { # VERSION4 CUDA
    vendor_tar "$1" "$2"
    r_top=$work/pack/$v_name r_abi=${1%%.*} r_three=${1%.*}
    echo "unsigned long cudnnGetVersion(void) { return $(number "$1"); }" >"$work/lib.c"
    "$cc" -shared -fPIC -O2 -Wl,-soname,"libcudnn.so.$r_abi" -o "$r_top/lib/libcudnn.so.$r_three" "$work/lib.c"
    tar -C "$work/pack" -cJf "$archive" "$v_name"
}
# What builds and programs get: header, -lcudnn, pkg-config and find_package.
builds_see() { # VERSION3
    b_number=$(number "$1")
    cat >"$work/ask.c" <<'END'
#include <cudnn.h>
#include <stdio.h>
unsigned long cudnnGetVersion(void);
int main(void) { printf("%d.%d.%d %lu\n", CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL, cudnnGetVersion()); return 0; }
END
    "$cc" -I"$local/include" -o "$work/ask" "$work/ask.c" -L"$local/lib" -lcudnn || fail "does not link"
    [ "$(LD_LIBRARY_PATH=$local/lib "$work/ask")" = "$1 $b_number" ] || fail "a program says $(LD_LIBRARY_PATH=$local/lib "$work/ask")"
    if command -v pkg-config >/dev/null; then
        PKG_CONFIG_PATH=$local/lib/pkgconfig
        export PKG_CONFIG_PATH
        [ "$(pkg-config --modversion cudnn)" = "$1" ] || fail "pkg-config says $(pkg-config --modversion cudnn)"
        # shellcheck disable=SC2046
        "$cc" -o "$work/ask" "$work/ask.c" $(pkg-config --cflags --libs cudnn) || fail "pkg-config's flags do not link"
    fi
    mkdir -p "$work/find"
    cat >"$work/find/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(find LANGUAGES NONE)
find_package(CUDNN CONFIG REQUIRED)
file(WRITE ${CMAKE_BINARY_DIR}/found "${CUDNN_VERSION} ${CUDNN_INCLUDE_DIR}")
END
    rm -rf "$work/find/build"
    cmake -S "$work/find" -B "$work/find/build" -DCMAKE_PREFIX_PATH="$local" >"$work/out" 2>&1 || fail "find_package"
    [ "$(cat "$work/find/build/found")" = "$1 $local/include" ] || fail "find_package says $(cat "$work/find/build/found")"
}

case_cycle() {
    real_tar 8.9.7.28 12 && old=$archive
    real_tar 9.1.0.71 12 && new=$archive
    tool 0 install "$old"
    builds_see 8.9.7
    tool 0 install "$new"
    builds_see 9.1.0
    leads lib/libcudnn.so.8 8.9.7.28-cuda12-linux-x86_64/lib/libcudnn.so.8.9.7
    leads lib/libcudnn_ops_infer.so.8 8.9.7.28-cuda12-linux-x86_64/lib/libcudnn_ops_infer.so.8.9.7
    leads opt/cudnn/current-9 9.1.0.71-cuda12-linux-x86_64
    tool 0 list
    says "*  8.9.7.28-cuda12-linux-x86_64"
    says "*h 9.1.0.71-cuda12-linux-x86_64"
    tool 0 use 8.9.7
    builds_see 8.9.7
    leads lib/libcudnn.so.9 9.1.0.71-cuda12-linux-x86_64/lib/libcudnn.so.9.1.0
    tool 0 rollback
    builds_see 9.1.0
    tool 0 uninstall 9.1.0
    builds_see 8.9.7
    gone lib/libcudnn.so.9
    gone lib/libcudnn_graph.so
    tool 0 uninstall 8
    [ -z "$(find "$root" ! -path "$root")" ] || fail "something is left: $(find "$root")"
}

case_versions() {
    vendor_tar 9.1.0.71 12 && one=$archive
    vendor_tar 9.1.0.71 11 && two=$archive
    tool 0 install "$one"
    tool 0 install "$two" --no-use
    leads lib/libcudnn.so.9 9.1.0.71-cuda12-linux-x86_64/lib/libcudnn.so.9.1.0
    tool 1 use 9.1.0
    says "may be one of"
    tool 1 use 9.2
    says "no build"
    tool 0 use 9.1.0.71-cuda11
    leads lib/libcudnn.so 9.1.0.71-cuda11-linux-x86_64/lib/libcudnn.so.9.1.0
    tool 0 rollback
    tool 0 rollback
    gone lib/libcudnn.so.9
    tool 1 rollback
    says "no state before"
    tool 0 install "$one"
    says "installed already"
    leads lib/libcudnn.so.9 9.1.0.71-cuda12-linux-x86_64/lib/libcudnn.so.9.1.0
    tool 2 use
    tool 2 install
    tool 2 uninstall --nonsense
}

case_checksum() {
    vendor_tar 8.9.7.28 12
    sum=$(sha256sum "$archive" | cut -c1-64)
    wrong=$(echo "$sum" | tr '0123456789abcdef' '123456789abcdef0')
    tool 1 install "$archive" --sha256 "$wrong"
    says "$sum" && says "$wrong"
    tool 1 install "$archive" --sha256 12345
    says "neither 64 hexadecimal digits nor a file"
    echo "$wrong  $(basename "$archive")" >"$archive.sha256"
    tool 1 install "$archive"
    says checksum-mismatch
    [ -z "$(find "$root" ! -path "$root")" ] || fail "something is left"
    sha256sum "$archive" >"$work/sums.sha256"
    rm "$archive.sha256"
    tool 0 install "$archive" "$work/sums.sha256"
    says "is that of the checksum given"
    says_not no-checksum
    # The name of a published archive is looked up without being asked.
    vendor_tar 8.9.7.29 12
    tool 1 install "$archive"
    says "the table of published archives says"
    says "$(sha256sum "$archive" | cut -c1-64)"
}

case_layouts() {
    # 8.0 to 8.2: .tgz with cuda/include and cuda/lib64
    fill_tree "$work/a/cuda" 8.2.4.15 11 lib64
    tar -C "$work/a" -czf "$work/cudnn-11.4-linux-x64-v8.2.4.15.tgz" cuda
    tool 0 install "$work/cudnn-11.4-linux-x64-v8.2.4.15.tgz"
    leads lib/libcudnn.so.8 8.2.4.15-cuda11-linux-x86_64/lib/libcudnn.so.8.2.4
    # A wheel: files have the SONAME as their name, and there is no development link.
    mkdir -p "$work/w/nvidia/cudnn/lib" "$work/w/nvidia/cudnn/include" "$work/w/nvidia_cudnn_cu12-9.1.0.70.dist-info"
    touch "$work/w/nvidia/__init__.py" "$work/w/nvidia/cudnn/__init__.py"
    echo Name: nvidia-cudnn-cu12 >"$work/w/nvidia_cudnn_cu12-9.1.0.70.dist-info/METADATA"
    for part in '' _graph _ops; do
        "$mkelf" "$work/w/nvidia/cudnn/lib/libcudnn$part.so.9" soname=libcudnn$part.so.9 version=90100
    done
    printf '#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n' >"$work/w/nvidia/cudnn/include/cudnn_version.h"
    echo '#include "cudnn_version.h"' >"$work/w/nvidia/cudnn/include/cudnn.h"
    (cd "$work/w" && cmake -E tar cf "$work/nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl" --format=zip nvidia nvidia_cudnn_cu12-9.1.0.70.dist-info)
    tool 0 install "$work/nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl"
    leads lib/libcudnn.so 9.1.0.70-cuda12-linux-x86_64/lib/libcudnn.so.9
    leads lib/libcudnn_ops.so.9.1.0 9.1.0.70-cuda12-linux-x86_64/lib/libcudnn_ops.so.9
    # The zip for Windows: bin, lib/x64, include; from 9.18 bin/x64.
    for layout in 8.9.7.29-bin 9.18.1.3-bin/x64; do
        three=${layout%%-*} && three=${three%.*} bin=${layout#*-} abi=${layout%%.*}
        top=cudnn-windows-x86_64-${layout%%-*}_cuda11.x
        mkdir -p "$work/z/$top/$bin" "$work/z/$top/lib/x64" "$work/z/$top/include"
        "$mkpe" "$work/z/$top/$bin/cudnn64_$abi.dll" name="cudnn64_$abi.dll" version="$(number "$three")"
        echo '!<arch>' >"$work/z/$top/lib/x64/cudnn.lib"
        echo '#define CUDNN_MAJOR' >"$work/z/$top/include/cudnn.h"
        (cd "$work/z" && cmake -E tar cf "$work/$top.zip" --format=zip "$top")
        tool 0 install "$work/$top.zip" --any-machine
        leads "$bin/cudnn64_$abi.dll" "${layout%%-*}-cuda11-windows-x86_64/$bin/cudnn64_$abi.dll"
        leads lib/x64/cudnn.lib "${layout%%-*}-cuda11-windows-x86_64/lib/x64/cudnn.lib"
    done
    tool 0 list
    says windows-x86_64
}

# A file in the way that is not ours is kept, and comes back.
case_saved() {
    vendor_tar 8.9.7.28 12 && old=$archive
    vendor_tar 9.1.0.71 12 && new=$archive
    mkdir -p "$local/lib" "$local/include"
    echo theirs >"$local/lib/libcudnn.so"
    chmod 751 "$local/lib/libcudnn.so"
    echo header >"$local/include/mine.h"
    ln -s mine.h "$local/include/cudnn.h"
    before=$(snapshot)
    tool 0 install "$old"
    leads lib/libcudnn.so 8.9.7.28-cuda12-linux-x86_64/lib/libcudnn.so.8.9.7
    tool 0 install "$new"
    tool 0 rollback
    tool 0 rollback
    [ "$(cat "$local/lib/libcudnn.so" "$local/include/cudnn.h")" = "theirs
header" ] || fail "what was in the way is not back after rollback"
    tool 0 use 9.1
    tool 0 uninstall 9
    tool 0 uninstall 8
    [ "$before" = "$(snapshot)" ] || fail "not as it was: $(snapshot)"
    # Somebody puts another file over our link: it stays, and what was kept comes back beside it.
    tool 0 install "$old"
    rm "$local/lib/libcudnn.so" && echo newer >"$local/lib/libcudnn.so"
    tool 1 list
    says changed-link
    tool 0 uninstall 8
    [ "$(cat "$local/lib/libcudnn.so")" = newer ] || fail "a file of others was touched"
    [ "$(cat "$local/lib/libcudnn.so.saved-by-anydnn")" = theirs ] || fail "what was kept is lost"
}

case_link_into() {
    vendor_tar 8.9.7.28 12
    mkdir -p "$local/cuda-12.1/targets/x86_64-linux/lib" "$local/cuda-12.1/targets/x86_64-linux/include"
    ln -s targets/x86_64-linux/lib "$local/cuda-12.1/lib64"
    ln -s targets/x86_64-linux/include "$local/cuda-12.1/include"
    ln -s cuda-12.1 "$local/cuda"
    before=$(snapshot)
    tool 0 install "$archive" --link-into /usr/local/cuda
    leads cuda/lib64/libcudnn.so.8 8.9.7.28-cuda12-linux-x86_64/lib/libcudnn.so.8.9.7
    leads cuda/include/cudnn.h 8.9.7.28-cuda12-linux-x86_64/include/cudnn.h
    tool 1 use 8 --link-into /usr/nothing
    says bad-view
    # A link that leads out of the tree is not followed.
    mkdir -p "$work/outside/lib64"
    ln -s "$work/outside" "$root/away"
    tool 1 use 8 --link-into /away
    rm "$root/away"
    tool 0 uninstall 8
    [ "$before" = "$(snapshot)" ] || fail "not as it was: $(snapshot)"
}

case_dry_run() {
    vendor_tar 8.9.7.28 12 && old=$archive
    before=$(snapshot)
    tool 0 install "$old" --dry-run
    says "unpack"
    says "/usr/local/lib/libcudnn.so.8 -> ../opt/cudnn/current"
    [ "$before" = "$(snapshot)" ] || fail "--dry-run changed something"
    tool 0 install "$old"
    before=$(snapshot)
    tool 0 uninstall 8 --dry-run
    says "remove   /usr/local/opt/cudnn/8.9.7.28-cuda12-linux-x86_64"
    tool 0 rollback --dry-run
    says "unlink   /usr/local/lib/libcudnn.so"
    [ "$before" = "$(snapshot)" ] || fail "--dry-run changed something"
}

# A prefix of one's own, with a space in it, on this machine: no --root.
case_prefix() {
    real_tar 9.1.0.71 12
    mkdir -p "$work/my place"
    "$anydnn" install "$archive" --prefix "$work/my place" >"$work/out" 2>&1 || fail "install"
    says "anydnn env --prefix '$work/my place' shell"
    local="$work/my place"
    builds_see_env() (
        eval "$("$anydnn" env --prefix "$local" shell)"
        printf '#include <cudnn.h>\n#include <stdio.h>\nunsigned long cudnnGetVersion(void);\nint main(void) { printf("%%d %%lu\\n", CUDNN_MAJOR, cudnnGetVersion()); return 0; }\n' >"$work/env.c"
        "$cc" -o "$work/env" "$work/env.c" -lcudnn && "$work/env"
    )
    [ "$(builds_see_env)" = "9 90100" ] || fail "with the settings of env: $(builds_see_env)"
    # Somebody's HOME is the place without --prefix; for root it is /usr/local, which is not for a test.
    [ "$(id -u)" = 0 ] || { HOME=$work/home && mkdir "$HOME" && export HOME && "$anydnn" install "$archive" >"$work/out" 2>&1 && [ -e "$HOME/.local/lib/libcudnn.so.9" ]; } || fail "HOME"
    "$anydnn" uninstall 9 --prefix "$local" >"$work/out" 2>&1 || fail "uninstall"
    [ -z "$(find "$local" ! -path "$local")" ] || fail "something is left: $(find "$local")"
}

# ld.so.conf names our folder: root makes the cache anew, anybody else gets the line to run.
case_loader() {
    vendor_tar 8.9.7.28 12
    mkdir -p "$root/etc/ld.so.conf.d"
    echo 'include /etc/ld.so.conf.d/*.conf' >"$root/etc/ld.so.conf"
    echo /usr/local/lib >"$root/etc/ld.so.conf.d/local.conf"
    user=
    [ "$(id -u)" != 0 ] || user="setpriv --reuid 65534 --regid 65534 --clear-groups"
    [ -z "$user" ] || $user true 2>/dev/null || exit 77
    [ -z "$user" ] || chown -R 65534:65534 "$root"
    HOME=$work $user "$anydnn" install "$archive" --root "$root" >"$work/out" 2>&1 || fail "install"
    says "sudo ldconfig -r '$root'"
    [ -n "$user" ] || return 0
    chroot "$root" /nothing 2>"$work/out" || :
    ! grep -q "Operation not permitted" "$work/out" || exit 77
    tool 0 rollback
    tool 0 use 8
    says_not ldconfig
    grep -q libcudnn.so.8 "$root/etc/ld.so.cache" || fail "the cache lacks the library"
    tool 0 uninstall 8
    ! grep -q libcudnn.so.8 "$root/etc/ld.so.cache" || fail "the cache has the library still"
    # A place that the loader does not search: the settings are named.
    tool 0 install "$archive" --prefix /opt/other
    says "anydnn env --prefix '/opt/other' shell"
}

# Two at once: the second waits until the first gives the lock back, and says so.
case_two() {
    vendor_tar 8.9.7.28 12 && old=$archive
    tool 0 install "$old"
    (
        flock 9
        "$anydnn" rollback --root "$root" >"$work/second" 2>&1 9>&- &
        echo $! >"$work/pid"
        n=0
        while ! grep -q "is at work" "$work/second" && [ $n -lt 100 ]; do n=$((n + 1)) && sleep 0.1; done
        [ -e "$local/lib/libcudnn.so" ] || touch "$work/early"
    ) 9>>"$store/.lock"
    n=0
    while [ -L "$local/lib/libcudnn.so" ] && [ $n -lt 100 ]; do n=$((n + 1)) && sleep 0.1; done
    cp "$work/second" "$work/out"
    says "another anydnn"
    says "waiting"
    [ ! -e "$work/early" ] || fail "did not wait"
    gone lib/libcudnn.so
    # Many at once: each does its work whole.
    vendor_tar 9.1.0.71 12 && new=$archive
    for i in 1 2 3 4 5 6; do
        { [ $((i % 2)) = 0 ] && "$anydnn" install "$old" --root "$root" || "$anydnn" install "$new" --root "$root"; } >"$work/out.$i" 2>&1 &
        eval "p$i=$!"
    done
    for i in 1 2 3 4 5 6; do
        eval "wait \$p$i" || { cat "$work/out.$i" && fail "number $i"; }
    done
    tool 0 list
    leads lib/libcudnn.so.8 8.9.7.28-cuda12-linux-x86_64/lib/libcudnn.so.8.9.7
    leads lib/libcudnn.so.9 9.1.0.71-cuda12-linux-x86_64/lib/libcudnn.so.9.1.0
}

# No room: files may not grow beyond 4 KiB.
case_full() {
    vendor_tar 8.9.7.28 12 && old=$archive
    mkdir -p "$work/b/big/lib" && "$mkelf" "$work/b/big/lib/libcudnn.so.9.1.0" soname=libcudnn.so.9 version=90100 pad=60000
    tar -C "$work/b" -cJf "$work/big.tar.xz" big
    tool 0 install "$old"
    before=$(snapshot)
    (ulimit -f 16 && exec "$anydnn" install "$work/big.tar.xz" --root "$root") >"$work/out" 2>&1 && fail "no failure"
    says disk-full
    [ "$before" = "$(snapshot)" ] || fail "something is left"
}

# T3: an archive in which every link is a copy: links again, one file each.
case_T3() {
    vendor_tar 8.0.3.33 11 && rm "$archive"
    for f in "$work/pack/$v_name"/lib/*.so "$work/pack/$v_name"/lib/*.so.8; do
        cp --remove-destination "$(readlink -f "$f")" "$f"
    done
    (cd "$work/pack" && cmake -E tar cf "$work/copies.zip" --format=zip "$v_name")
    tool 0 install "$work/copies.zip"
    [ "$(find "$store"/8.*/lib -maxdepth 1 -name '*.so*' -type f | wc -l)" = 7 ] || fail "7 files should be there: $(ls -l "$store"/8.*/lib)"
    leads lib/libcudnn_ops_infer.so 8.0.3-cuda11-linux-x86_64/lib/libcudnn_ops_infer.so.8.0.3
    tool 0 list --checksums
}

# T8: names that a package of the system owns, and links of the alternatives system, are not written over.
case_T8() {
    vendor_tar 9.1.0.71 12
    mkdir -p "$root/var/lib/dpkg/info" "$root/usr/lib" "$root/usr/include" "$root/etc/alternatives"
    echo cuda >"$root/usr/lib/libcudnn.so"
    printf '/usr/lib/libcudnn.so\n' >"$root/var/lib/dpkg/info/libcudnn9-dev-cuda-12.list"
    printf 'Package: libcudnn9-dev-cuda-12\nStatus: install ok installed\nVersion: 9.10.0.56-1\n' >"$root/var/lib/dpkg/status"
    before=$(snapshot)
    tool 1 install "$archive" --prefix /usr
    says "belongs to a package of the system"
    says "apt-get remove libcudnn9-dev-cuda-12"
    [ "$before" = "$(snapshot)" ] || fail "something was changed: $(snapshot)"
    # Before 9.10: alternatives.
    rm "$root/usr/lib/libcudnn.so" && : >"$root/var/lib/dpkg/info/libcudnn9-dev-cuda-12.list"
    ln -s /etc/alternatives/libcudnn_so "$root/usr/lib/libcudnn.so"
    tool 1 install "$archive" --prefix /usr
    says "update-alternatives --config libcudnn_so"
    [ "$(readlink "$root/usr/lib/libcudnn.so")" = /etc/alternatives/libcudnn_so ] || fail "the link was written over"
}

# T53: files whose checksums are not those of the manifest; install puts them back.
case_T53() {
    vendor_tar 8.7.0.84 11 _ops_infer && other=$archive && mv "$other" "$work/other.tar.xz"
    vendor_tar 8.5.0.96 11 _ops_infer && mv "$archive" "$work/mine.tar.xz"
    tool 0 install "$work/mine.tar.xz"
    tool 0 list
    build=$(readlink -f "$store/current-8")
    touch "$build/include/cudnn.h"
    tool 0 list
    cp "$work/pack/$v_name/LICENSE" "$build/lib/extra"
    printf x | dd of="$build/lib/libcudnn.so.8.5.0" bs=1 seek=40 conv=notrunc 2>/dev/null
    rm "$build/include/cudnn_version.h"
    ln -sf libcudnn_ops_infer.so.8.5.0 "$build/lib/libcudnn.so.8"
    tool 1 list
    says "lib/libcudnn.so.8.5.0 of 8.5.0"
    says "another checksum"
    says "include/cudnn_version.h of"
    says "the link leads elsewhere"
    says "lib/extra"
    # What somebody put into the folder is not thrown away.
    tool 1 install "$work/mine.tar.xz"
    says extra-files
    tool 1 uninstall 8.5
    says extra-files
    rm "$build/lib/extra"
    tool 0 install "$work/mine.tar.xz"
    says "as the archive has it again"
    tool 0 list --checksums
    # The time says nothing: --checksums reads.
    stamp=$(stat -c %y "$build/lib/libcudnn.so.8.5.0")
    printf y | dd of="$build/lib/libcudnn.so.8.5.0" bs=1 seek=40 conv=notrunc 2>/dev/null
    touch -d "$stamp" "$build/lib/libcudnn.so.8.5.0"
    tool 1 list --checksums
    says "another checksum"
}

# T54: two versions, a destination that cannot be written: nothing is changed, nothing of others deleted.
case_T54() {
    vendor_tar 8.9.7.28 12 && old=$archive
    vendor_tar 9.1.0.71 12 && new=$archive
    tool 0 install "$old"
    echo other >"$local/lib/libother.so"
    user=
    [ "$(id -u)" != 0 ] || user="setpriv --reuid 65534 --regid 65534 --clear-groups"
    [ -z "$user" ] || $user true 2>/dev/null || { echo "no other user here" && exit 77; }
    chmod 755 "$work" "$root"
    [ -z "$user" ] || chown -R 65534:65534 "$root"
    chmod a-w "$local/include"
    [ -z "$user" ] || chown 0:0 "$local/include"
    before=$(snapshot)
    code=0
    HOME=$work $user "$anydnn" install "$new" --root "$root" >"$work/out" 2>&1 || code=$?
    [ "$code" = 1 ] || fail "exit code $code"
    says "/usr/local/include: Permission denied"
    says no-permission
    [ "$before" = "$(snapshot)" ] || fail "something was changed: $(snapshot)"
    leads lib/libcudnn.so.8 8.9.7.28-cuda12-linux-x86_64/lib/libcudnn.so.8.9.7
}

# T55: the package nvidia-cudnn sweeps libcudnn* in /usr: our place is another, and a warning says it.
case_T55() {
    vendor_tar 9.1.0.71 12
    mkdir -p "$root/var/lib/dpkg" "$root/usr/lib"
    printf 'Package: nvidia-cudnn\nStatus: install ok installed\nVersion: 8.2.4.15~cuda11.4\n' >"$root/var/lib/dpkg/status"
    tool 0 install "$archive"
    says "deletes libcudnn* in /usr"
    rm -rf "$root"/usr/lib/libcudnn*
    tool 0 list
    leads lib/libcudnn.so.9 9.1.0.71-cuda12-linux-x86_64/lib/libcudnn.so.9.1.0
}

# T57: a program that runs keeps its files, and is named.
case_T57() {
    real_tar 9.1.0.71 12 && old=$archive
    real_tar 9.2.0.82 12 && new=$work/new.tar.xz && mv "$archive" "$new"
    tool 0 install "$old"
    cat >"$work/wait.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
    unsigned long (*version)(void) = lib ? (unsigned long (*)(void))dlsym(lib, "cudnnGetVersion") : 0;
    char c;
    puts(version ? "ready" : "not loaded");
    fflush(stdout);
    if (read(0, &c, 1) == 1 && version)
        printf("%lu\n", version());
    return 0;
}
END
    "$cc" -o "$work/wait" "$work/wait.c" -ldl
    mkfifo "$work/in"
    "$work/wait" "$local/lib/libcudnn.so.9" <"$work/in" >"$work/ran" &
    pid=$!
    exec 8>"$work/in"
    n=0
    while ! grep -q ready "$work/ran" && [ $n -lt 100 ]; do n=$((n + 1)) && sleep 0.1; done
    tool 0 install "$new"
    says "Running programs still use 9.1.0.71-cuda12-linux-x86_64"
    says "process $pid (wait)"
    tool 0 uninstall 9.1
    says "process $pid (wait): its file is removed"
    echo x >&8
    exec 8>&-
    wait "$pid" || fail "the running program died"
    [ "$(tail -1 "$work/ran")" = 90100 ] || fail "the running program got other code: $(cat "$work/ran")"
}

# A store that somebody edited: refused with a sentence. What was saved stays, and no link of it leads the tool elsewhere.
case_damaged() {
    vendor_tar 8.9.7.28 12
    whole=$work/whole
    mkdir -p "$local/lib" "$work/away/folder"
    echo precious >"$work/away/folder/file"
    echo theirs >"$local/lib/libcudnn.so"
    tool 0 install "$archive"
    mv "$root" "$whole"
    spoilt() { # SENTENCE: every command refuses, and changes nothing
        cp -R "$root" "$work/before"
        for command in list "use 8" rollback "uninstall 8" "install $archive"; do
            # shellcheck disable=SC2086
            tool 1 $command
            says damaged-store
            says "$1"
        done
        diff -r --no-dereference -x .lock "$work/before" "$root" >"$work/out" || fail "$1: something was changed"
        [ "$(cat "$work/away/folder/file")" = precious ] || fail "$1: something outside was changed"
        [ "$(find "$work/away" | wc -l)" = 3 ] || fail "$1: something outside was made"
        rm -rf "$root" "$work/before"
    }
    cp -R "$whole" "$root" && rm "$store/current"
    spoilt "fix:   ln -s .state/2"
    cp -R "$whole" "$root" && rm "$store/current" && mkdir "$store/current"
    spoilt "is no link"
    cp -R "$whole" "$root" && sed -i 's/^generation.*/generation\t77/' "$store/.state/2/record"
    spoilt "is that of .state/77"
    cp -R "$whole" "$root" && sed -i '3,$d' "$store/.state/2/record"
    spoilt "cut off"
    for name in .state .state/saved; do
        cp -R "$whole" "$root" && mv "$store/$name" "$work/moved" && ln -s "$work/away" "$store/$name"
        spoilt "$name is no folder"
        rm -rf "$work/moved"
    done
    cp -R "$whole" "$root" && rm -rf "$local/lib" && mkdir -p "$root$work/away" && ln -s "$work/away" "$local/lib"
    spoilt "is a link itself now"
    # A folder below lib: the link is followed inside the tree.
    cp -R "$whole" "$root" && tool 0 uninstall 8
    mkdir -p "$root$work/away" && ln -s "$work/away" "$local/lib/pkgconfig"
    tool 0 install "$archive"
    [ -e "$root$work/away/cudnn.pc" ] && [ ! -e "$work/away/cudnn.pc" ] || fail "lib/pkgconfig: the link was not followed inside the tree"
    # The number of the interface says which slot: another one is no slot.
    sed -i 's/^abi\t.*/abi\t10/' "$store"/8.*/manifest
    tool 1 use 8
    says damaged-manifest
    tool 1 list
    says "*h 8.9.7.28"
}

# Where there is nothing to read: exit code 3; a file in the way is no question of rights.
case_unreadable() {
    vendor_tar 8.9.7.28 12
    "$anydnn" list --root "$work/none" >"$work/out" 2>&1 && fail "no failure" || [ $? = 3 ] || fail "not 3"
    says "is no folder that can be read"
    "$anydnn" list --root "$archive" >"$work/out" 2>&1 && fail "no failure" || [ $? = 3 ] || fail "not 3"
    mkdir -p "$local" && echo x >"$local/lib"
    tool 1 install "$archive"
    says "Not a directory"
    says_not "as root"
    rm "$local/lib" && tool 0 install "$archive"
    # With --json there is an object whatever happens.
    for words in "" nonsense install "use" "--root" "list --root $work/none" "verify $work/none" "inspect $work/none" "help install" "run"; do
        # shellcheck disable=SC2086
        "$anydnn" --json $words >"$work/json" 2>"$work/out" || :
        printf 'file(READ "%s" t)\nstring(JSON schema GET "${t}" schema)\nif(NOT schema EQUAL 1)\nmessage(FATAL_ERROR x)\nendif()\n' "$work/json" >"$work/json.cmake"
        cmake -P "$work/json.cmake" >"$work/out" 2>&1 || fail "no JSON with: $words"
    done
    [ "$(id -u)" = 0 ] || return 0
    user="setpriv --reuid 65534 --regid 65534 --clear-groups"
    $user true 2>/dev/null || exit 77
    for closed in "$store/.state/2/record" "$store"/8.*/manifest "$local/opt"; do
        mode=$(stat -c %a "$closed") code=0
        chmod 700 "$closed"
        $user "$anydnn" list --root "$root" >"$work/out" 2>&1 || code=$?
        [ "$code" = 3 ] || fail "$closed: exit code $code"
        says "[unreadable]"
        chmod "$mode" "$closed"
    done
}

# T59: what is not here is not offered, and what is installed stays; a known bad wheel is named.
case_T59() {
    vendor_tar 9.1.0.71 12
    tool 0 install "$archive"
    before=$(snapshot)
    tool 3 install 9.0.0.312
    says "not offered by this source"
    tool 3 install https://example.org/cudnn.tar.xz
    says "not offered by this source"
    tool 3 install "$work/none.tar.xz"
    says "No such file"
    [ "$before" = "$(snapshot)" ] || fail "something was changed"
    mkdir -p "$work/w/nvidia/cudnn/lib" "$work/w/nvidia_cudnn_cu12-9.0.0.312.dist-info"
    "$mkelf" "$work/w/nvidia/cudnn/lib/libcudnn.so.9" soname=libcudnn.so.9 version=90000
    touch "$work/w/nvidia_cudnn_cu12-9.0.0.312.dist-info/METADATA"
    (cd "$work/w" && cmake -E tar cf "$work/nvidia_cudnn_cu12-9.0.0.312-py3-none-any.whl" --format=zip nvidia nvidia_cudnn_cu12-9.0.0.312.dist-info)
    tool 0 install "$work/nvidia_cudnn_cu12-9.0.0.312-py3-none-any.whl" --no-use
    says KI-091
}

mkpe=$(dirname "$mkelf")/mkpe
"case_$case"
exit "$failed"
