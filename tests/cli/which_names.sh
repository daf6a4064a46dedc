#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# which_names.sh ANYDNN MKPE: names and elements of PATH that are no plain absolute paths, on a Windows machine. make check-wine compares the same
# with a loader.
set -eu
anydnn=$1
mkpe=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failed=0
mkdir -p "$root/t/v1.2" "$root/t/p2" "$root/app"
"$mkpe" "$root/t/v1.2/t.dll" name=t.dll
"$mkpe" "$root/t/p2/t.dll" name=t.dll
loads() { # WANTED NAME PATH [CWD]
    said=$("$anydnn" which --json --root "$root" --exe 'C:\app\a.exe' --windows-path "$3" --cwd "${4:-C:\\app}" --needs "$2" |
        sed -n 's/^	"loaded":	"*\([^"]*\)"*,$/\1/p' | sed 's/\\\\/\\/g')
    [ "$said" = "$1" ] && return
    printf 'FAILED %s with PATH %s in %s: loaded %s, not %s\n' "$2" "$3" "${4:-}" "$said" "$1"
    failed=1
}
loads 'C:\t\p2\t.dll' t.dll 't\p2;C:\t\v1.2' 'C:\'
loads 'C:\t\p2\t.dll' t.dll 'p2;C:\t\v1.2' 'C:\t'
loads 'C:\t\v1.2\t.dll' t.dll 'p2;C:\t\v1.2' 'C:\app'
loads 'C:\t\p2\t.dll' 'p2\t' 'C:\x;C:\t'
loads 'C:\t\p2\t.dll' 'p2\t.dll' 'C:\x' 'C:\t'
loads 'C:\t\v1.2\t.dll' 'C:\t\v1.2\t' 'C:\x'
loads null 'p3\t.dll' 'C:\t'
exit "$failed"
