#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Makes sure that what the build and the tests need is there. As root on a Debian-like machine the
# missing packages are installed; otherwise the one line to run is printed and the exit status is 1.
# docs/dependencies.md gives the reason for each.
set -eu

missing=
need() { # need PACKAGE TEST...: note PACKAGE where the test fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
have_cc() {
    echo '#include <stdlib.h>' | ${CC:-cc} -E - && echo '#include <cstdlib>' | c++ -x c++ -E -
}
have_cmocka() {
    pkg-config --exists cmocka && printf '%s\n' '#include <stdarg.h>' '#include <stddef.h>' '#include <setjmp.h>' \
        '#include <stdint.h>' '#include <cmocka.h>' | ${CC:-cc} $(pkg-config --cflags cmocka) -E -
}
# oneDNN is opened at run time, by either name (/sbin is not in everybody's PATH).
have_onednn() {
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q 'libdnnl\.so\.[23] '
}
find_onednn_package() {
    for package in libdnnl2 libdnnl3 libdnnl3.6 libdnnl3.7; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            echo "$package"
            return
        fi
    done
}

need build-essential have_cc
need cmake command -v cmake
need pkg-config command -v pkg-config
need libcmocka-dev have_cmocka
need xz-utils command -v xz

apt=
command -v apt-get >/dev/null 2>&1 && apt=yes
root=
[ "$(id -u)" = 0 ] && root=yes
# Ninja is the quicker of two ways: worth installing, not worth refusing.
[ -z "$root" ] || need ninja-build command -v ninja
# The same for what only the tool needs: without it the tool is left out.
[ -z "$root" ] || need libarchive-dev pkg-config --exists libarchive
[ -z "$root" ] || need libcjson-dev pkg-config --exists libcjson
[ -z "$root" ] || need nettle-dev pkg-config --exists nettle

if [ -n "$apt" ] && [ -n "$root" ]; then
    if [ -n "$missing" ] || ! have_onednn; then
        export DEBIAN_FRONTEND=noninteractive
        # An index that is there already may do; a bare machine has none.
        [ -n "$(find_onednn_package)" ] || apt-get update -qq || true
        onednn=
        have_onednn || onednn=$(find_onednn_package)
        [ -n "$missing$onednn" ] && echo "deps: installing$missing $onednn"
        install_all() {
            # shellcheck disable=SC2086
            [ -z "$missing$onednn" ] || apt-get install -y -qq --no-install-recommends $missing $onednn >/dev/null
        }
        install_all || { apt-get update -qq && install_all; }
    fi
    exit 0
fi

if ! have_onednn; then
    onednn=
    [ -z "$apt" ] || onednn=$(find_onednn_package)
    if [ -n "$missing" ]; then
        missing="$missing ${onednn:-}"
    else
        echo "deps: oneDNN (${onednn:-libdnnl.so.2 or libdnnl.so.3}) is not installed: the cpu engine is off, ref works."
    fi
fi
if [ -n "$missing" ]; then
    if [ -n "$apt" ]; then
        echo "deps: something is missing. Run:"
        echo "  sudo apt-get install -y$missing"
    else
        echo "deps: please install (Debian's names):$missing"
    fi
    exit 1
fi
