#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Headers beside libraries, and headers in a compiler's order.
. "$(dirname "$0")/check_common.sh"

dpkg_package() { # NAME VERSION FILE...
    mkdir -p "$root/var/lib/dpkg/info"
    printf 'Package: %s\nStatus: install ok installed\nArchitecture: amd64\nVersion: %s\nDescription: x\n\n' "$1" "$2" >>"$root/var/lib/dpkg/status"
    p_list=$root/var/lib/dpkg/info/$1:amd64.list
    shift 2
    printf '%s\n' "$@" >"$p_list"
}

machine "T37 header and library of different prefixes"
copy_of 9.1.0 /usr/lib64
header /usr/local/include/cudnn_version.h 9.5.1
echo '#include "cudnn_version.h"' >"$root/usr/local/include/cudnn.h"
check
finds header-mismatch "The header says 9.5.1 (/usr/local/include/cudnn_version.h), the library is 9.1.0 (/usr/lib64/libcudnn.so.9.1.0)"
is_code 1

machine "T38 names of the packages"
mkdir -p "$root/usr/lib64"
ln -s /usr/lib64 "$root/lib64"
copy_of 9.5.0 /usr/lib64
header /usr/include/cudnn_version.h 9.1.0
echo '#include "cudnn_version.h"' >"$root/usr/include/cudnn.h"
dpkg_package libcudnn9 9.5.0.50-1 /. /lib64/libcudnn.so.9.5.0 /lib64/libcudnn.so.9
dpkg_package libcudnn9-dev 9.1.0.70-1 /usr/include/cudnn_version.h /usr/include/cudnn.h
check
finds header-mismatch "libcudnn9 9.5.0.50-1 (dpkg)"
finds header-mismatch "libcudnn9-dev 9.1.0.70-1 (dpkg)"
says '"package":	"libcudnn9"'

machine "T39 headers in a compiler's order"
copy_of 8.9.7 /usr/lib64
header /usr/local/include/cudnn.h 5.1.10
header /usr/include/cudnn.h 8.9.7
check
finds shadowed-header "/usr/local/include/cudnn.h (5.1.10) comes before /usr/include/cudnn.h (8.9.7)"
order=$(sed -n '/^	"headers":/,/^	}*\]/p' "$work/out" | sed -n 's/.*"path":	"\(.*\)",*/\1/p' | tr '\n' ' ')
[ "$order" = "/usr/local/include/cudnn.h /usr/include/cudnn.h " ] || fail "headers in the order: $order"
finds header-mismatch "5.1.10"

machine "T40 where the numbers are"
copy_of 9.1.0 /usr/lib64
header /usr/include/cudnn.h 9.1.0
check
says '"path":	"/usr/include/cudnn.h"'
machine "T40 cudnn_version.h"
copy_of 9.1.0 /usr/lib64
header /usr/include/cudnn_version.h 9.1.0
echo '#include "cudnn_version.h"' >"$root/usr/include/cudnn.h"
check
is_code 0
says '"path":	"/usr/include/cudnn_version.h"'
machine "T40 numbered headers only"
copy_of 9.1.0 /usr/lib64
header /usr/include/cudnn_version_v9.h 9.1.0
check
says '"path":	"/usr/include/cudnn_version_v9.h"'
machine "T40 cudnn.h copied alone"
copy_of 9.1.0 /usr/lib64
echo '#include "cudnn_version.h"' >"$root/usr/include/cudnn.h"
check
finds header-incomplete cudnn_version.h
[ "$(grep -c '"header-incomplete"' "$work/out")" = 1 ] || fail "said more than once"
machine "T40 CRLF and tabs"
copy_of 9.1.0 /usr/lib64
printf '#define  CUDNN_MAJOR\t9\r\n# define CUDNN_MINOR 1\r\n#define CUDNN_PATCHLEVEL  0\r\n' >"$root/usr/include/cudnn.h"
check
is_code 0
says '"path":	"/usr/include/cudnn.h"'
done_all
