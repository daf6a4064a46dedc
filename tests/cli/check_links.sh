#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Names, links and files of one copy, and --fix.
. "$(dirname "$0")/check_common.sh"

machine "a good copy has no finding"
copy_of 8.9.7 /usr/lib64
header /usr/include/cudnn_version.h 8.9.7
echo '#include "cudnn_version.h"' >"$root/usr/include/cudnn.h"
check
is_code 0
says '"version":	"8.9.7"'
says '"complete":	true'
says '"loaded":	"/usr/lib64/libcudnn.so.8"'

machine "T3 copies instead of links"
copy_of 8.9.7 /usr/lib64
for f in "$root"/usr/lib64/*.so "$root"/usr/lib64/*.so.8; do
    cp --remove-destination "$(readlink -f "$f")" "$f"
done
check
is_code 1
finds copies-not-links
[ "$(grep -c '"copies-not-links"' "$work/out")" = 1 ] || fail "more than one finding for one mess"
before=$(sha256sum <"$root/usr/lib64/libcudnn.so.8.9.7")
check --fix
finds_not copies-not-links
is_code 0
[ "$(find "$root/usr/lib64" -type f | wc -l)" = 7 ] || fail "7 files should be left: $(ls -l "$root/usr/lib64")"
[ "$(find "$root/usr/lib64" -type l | wc -l)" = 14 ] || fail "14 links should be there"
[ "$before" = "$(sha256sum <"$root/usr/lib64/libcudnn.so.8.9.7")" ] || fail "the file that stays has changed"
find "$root/usr/lib64" -printf '%f %i %l %C@\n' | sort >"$work/first"
check --fix
find "$root/usr/lib64" -printf '%f %i %l %C@\n' | sort >"$work/second"
cmp -s "$work/first" "$work/second" || fail "the second --fix changed something"
says '"mends":	[]'

machine "T3 same size, other bytes: never replaced"
library /usr/lib64 '' 8.9.7
rm "$root/usr/lib64/libcudnn.so.8"
cp "$root/usr/lib64/libcudnn.so.8.9.7" "$root/usr/lib64/libcudnn.so.8"
printf 'x' | dd of="$root/usr/lib64/libcudnn.so.8" bs=1 seek=$(($(stat -c %s "$root/usr/lib64/libcudnn.so.8") - 1)) conv=notrunc 2>/dev/null
check --fix
[ ! -L "$root/usr/lib64/libcudnn.so.8" ] || fail "a file with other bytes was replaced by a link"

machine "--dry-run shows and changes nothing"
copy_of 8.9.7 /usr/lib64
cp --remove-destination "$root/usr/lib64/libcudnn.so.8.9.7" "$root/usr/lib64/libcudnn.so.8"
check --dry-run
says '"done":	false'
[ ! -L "$root/usr/lib64/libcudnn.so.8" ] || fail "--dry-run made a link"

machine "T4 SONAME under another name"
library /usr/lib64 '' 8.0.5
cp "$root/usr/lib64/libcudnn.so.8.0.5" "$root/usr/lib64/libcudnn.so.5"
check
finds soname-under-other-name "SONAME libcudnn.so.8 under the name libcudnn.so.5"

machine "T7 runtime only is a note"
copy_of 9.1.0 /usr/lib64
rm "$root"/usr/lib64/libcudnn*.so
check
is_code 0
finds no-development-link
finds_not incomplete

machine "T9 a chain of links that ends nowhere"
copy_of 8.9.7 /usr/lib64
mkdir -p "$root/etc/alternatives"
ln -sf /etc/alternatives/libcudnn_so "$root/usr/lib64/libcudnn.so"
ln -s /usr/lib64/gone/libcudnn.so.8 "$root/etc/alternatives/libcudnn_so"
check --fix
finds broken-link "/usr/lib64/libcudnn.so -> /etc/alternatives/libcudnn_so -> /usr/lib64/gone/libcudnn.so.8 (missing)"
[ "$(readlink "$root/usr/lib64/libcudnn.so")" = /etc/alternatives/libcudnn_so ] || fail "--fix wrote over a link of the alternatives system"

machine "T9 absolute links stay inside the root"
copy_of 8.9.7 /opt/cudnn/lib
ln -s /opt/cudnn/lib/libcudnn.so.8 "$root/usr/lib64/libcudnn.so.8"
mkdir -p "$work/outside"
ln -s ../../../../../../../../../../../../../../..$work/outside "$root/opt/leaves"
"$mkelf" "$work/outside/libcudnn.so.8" soname=libcudnn.so.8 version=8100
check
says '"loaded":	"/usr/lib64/libcudnn.so.8"'
finds_not broken-link
! grep -q outside "$work/out" || fail "the root was left through a link"

machine "T10 no SONAME link: fails at run time"
copy_of 8.9.7 /usr/lib64
rm "$root/usr/lib64/libcudnn.so.8"
ln -sf libcudnn.so.8.9.7 "$root/usr/lib64/libcudnn.so"
check
finds no-soname-link "libcudnn.so.8"
check --fix
[ "$(readlink "$root/usr/lib64/libcudnn.so.8")" = libcudnn.so.8.9.7 ] || fail "--fix did not make the link"
finds_not no-soname-link

machine "T11 another processor, and a file that ends early"
copy_of 8.9.7 /usr/lib64
mkdir -p "$root/bin"
"$mkelf" "$root/bin/sh" soname=sh
library /usr/lib64 _ops_infer 8.9.7 machine=aarch64
library /usr/lib64 _cnn_infer 8.9.7 cut=200
check
finds machine-mismatch libcudnn_ops_infer.so.8.9.7
finds truncated libcudnn_cnn_infer.so.8.9.7
says '"complete":	false'

machine "T11 a whole copy for another processor"
mkdir -p "$root/bin"
"$mkelf" "$root/bin/sh" soname=sh
copy_of 9.1.0 /usr/local/lib machine=aarch64
check
finds wrong-machine "is for aarch64; this machine is x86-64"

machine "a web page saved as a library"
copy_of 8.9.7 /usr/lib64
echo '<!DOCTYPE html><html>login</html>' >"$root/usr/lib64/libcudnn_adv_infer.so.8.9.7"
check
finds html-page

machine "mixed versions and missing parts"
copy_of 8.9.7 /usr/lib64
library /usr/lib64 _cnn_train 8.8.0
rm "$root/usr/lib64/libcudnn_adv_train.so"*
check
finds mixed-versions libcudnn_cnn_train.so.8.8.0
finds incomplete libcudnn_adv_train.so.8
done_all
