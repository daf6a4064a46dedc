#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# check_wine.sh ANYDNN FOLDER: which DLL would Windows load? The answer of `anydnn which --windows-path` against the loader of Wine, which follows
# Windows here. A copy of t.dll, each with a number of its own, lies in every place that is searched; the one that was loaded is taken away, and
# so on, until neither finds any: so the whole order is compared. Needs wine64 and x86_64-w64-mingw32-gcc. Not part of make check.
set -eu
anydnn=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
passed=0
failed=0
wine=
for program in wine64 /usr/lib/wine/wine64 wine; do
    [ -n "$wine" ] || wine=$(command -v "$program" || true)
done
cc=x86_64-w64-mingw32-gcc
[ -n "$wine" ] && command -v "$cc" >/dev/null || { echo "needs wine64 and $cc (Debian: wine64, gcc-mingw-w64-x86-64)" && exit 77; }
WINEPREFIX=$folder/prefix WINEDEBUG=-all DISPLAY='' WINEDLLOVERRIDES='mscoree,mshtml='
export WINEPREFIX WINEDEBUG DISPLAY WINEDLLOVERRIDES
[ -d "$WINEPREFIX/drive_c/windows/system32" ] || "$wine" wineboot -i >/dev/null 2>&1
c=$WINEPREFIX/drive_c
rm -rf "$c/t"
mkdir -p "$folder/made" "$c/t/app" "$c/t/by" "$c/t/cwd" "$c/t/p1" "$c/t/p2" "$c/t/u1" "$c/t/u2" "$c/t/else" "$c/windows/system"

# t.dll answers with its number; outer.dll imports it.
cat >"$folder/made/t.c" <<'C'
__declspec(dllexport) int number(void) { return NUMBER; }
int __stdcall DllMain(void *module, unsigned reason, void *reserved) { return module || reason || !reserved; }
C
cat >"$folder/made/outer.c" <<'C'
__declspec(dllimport) int number(void);
__declspec(dllexport) int outer(void) { return number(); }
int __stdcall DllMain(void *module, unsigned reason, void *reserved) { return module || reason || !reserved; }
C
# Does what its arguments say, in their order, then tells which t.dll it has: number and path, or nothing.
cat >"$folder/made/probe.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
int main(int argc, char **argv)
{
    typedef int (*answer)(void);
    unsigned long flags = 0;
    HMODULE t = NULL;
    char path[MAX_PATH] = "";
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=') + 1;
        wchar_t wide[MAX_PATH];
        MultiByteToWideChar(CP_ACP, 0, value, -1, wide, MAX_PATH);
        if (strncmp(argv[i], "path=", 5) == 0)
            SetEnvironmentVariableA("PATH", value);
        else if (strncmp(argv[i], "cwd=", 4) == 0)
            SetCurrentDirectoryA(value);
        else if (strncmp(argv[i], "add=", 4) == 0)
            AddDllDirectory(wide);
        else if (strncmp(argv[i], "default=", 8) == 0)
            SetDefaultDllDirectories(strtoul(value, NULL, 0));
        else if (strncmp(argv[i], "flags=", 6) == 0)
            flags = strtoul(value, NULL, 0);
        else if (strncmp(argv[i], "first=", 6) == 0 && !LoadLibraryExA(value, NULL, 0))
            printf("first: error %lu\n", GetLastError());
        else if (strncmp(argv[i], "load=", 5) == 0)
            t = LoadLibraryExA(value, NULL, flags);
        else if (strncmp(argv[i], "by=", 3) == 0)
            t = LoadLibraryExA(value, NULL, flags) ? GetModuleHandleA("t.dll") : NULL;
    }
    if (t && GetModuleFileNameA(t, path, MAX_PATH))
        printf("%d %s\n", ((answer)(void *)GetProcAddress(t, "number"))(), path);
    return 0;
}
C
"$cc" -o "$c/t/app/probe.exe" "$folder/made/probe.c"

# Places and the numbers of their copies: a folder below drive C each.
needs=t.dll
places='1 t/app
2 t/by
3 windows/system32
4 windows/system
5 windows
6 t/cwd
7 t/p1
8 t/p2
9 t/u1'
echo "$places" | while read -r number place; do
    mkdir -p "$folder/made/$number"
    "$cc" -shared -nostdlib -Wl,-e,DllMain -DNUMBER="$number" -o "$folder/made/$number/t.dll" "$folder/made/t.c"
done
"$cc" -shared -nostdlib -Wl,-e,DllMain -o "$c/t/by/outer.dll" "$folder/made/outer.c" "$folder/made/1/t.dll"
put_all() {
    echo "$places" | while read -r number place; do cp "$folder/made/$number/t.dll" "$c/$place/"; done
}
take_all() {
    echo "$places" | while read -r number place; do rm -f "$c/$place/t.dll"; done
}
trap 'take_all; "$wine" reg delete "$session" /v SafeDllSearchMode /f >/dev/null 2>&1 || true' EXIT
session='HKLM\System\CurrentControlSet\Control\Session Manager'

fail() {
    printf 'FAILED %s: %s\n' "$name" "$*"
    failed=$((failed + 1))
}
# Small letters, / for \: c:/t/app/t.dll
plain() {
    tr 'A-Z\\' 'a-z/' | tr -d '\r'
}
path='C:\t\p1;C:\t\p2'
start() { # ARGUMENTS of the probe
    "$wine" 'C:\t\app\probe.exe' "path=$path" 'cwd=C:\t\cwd' "$@" 2>/dev/null | plain
}
which() { # ARGUMENTS of anydnn which
    "$anydnn" which --json --root "$WINEPREFIX" --exe 'C:\t\app\probe.exe' --windows-path "$path" --cwd 'C:\t\cwd' --needs "$needs" "$@" |
        sed -n 's/^	"loaded":	"\(.*\)",$/\1/p' | sed 's/\\\\/\\/g' | plain
}
# One answer, with what lies there now. The words before -- are for the probe, those behind it for anydnn.
ask() { # NAME WORDS -- WORDS
    name=$1 probe=
    shift
    while [ "$1" != -- ]; do probe="$probe $1" && shift; done
    shift
    # shellcheck disable=SC2086
    got=$(start $probe)
    said=$(which "$@")
}
same() { # NAME WORDS -- WORDS
    ask "$@"
    [ "${got#* }" = "$said" ] && passed=$((passed + 1)) && printf 'same: %s: %s\n' "$name" "${said:-none}" || fail "Wine has ${got:-none}, anydnn ${said:-none}"
}
# Where Wine says more than any source says of Windows.
wine_has() { # WANTED NAME WORDS
    wanted=$1
    shift
    ask "$@" --
    [ "$got" = "$wanted" ] && passed=$((passed + 1)) && printf 'Wine: %s: %s\n' "$name" "${got:-none}" || fail "Wine has ${got:-none}, not $wanted"
}
# The whole order.
compare() { # NAME WORDS -- WORDS
    put_all
    order=
    while ask "$@" && [ "${got#* }" = "$said" ] && [ -n "$said" ]; do
        order="$order ${said%/t.dll}"
        [ "$(echo "$places" | sed -n "s,^${got%% *} ,,p")" = "$(echo "${said%/t.dll}" | cut -c 4-)" ] || fail "$said answers ${got%% *}"
        rm -f "$c/${said#c:/}"
    done
    [ "${got#* }" = "$said" ] && passed=$((passed + 1)) && printf 'same: %s:%s\n' "$name" "$order" || fail "after$order Wine has ${got:-none}, anydnn ${said:-none}"
}

compare 'LoadLibrary' load=t.dll --
needs=t
compare 'without .dll' load=t --
needs=t.dll
compare 'an import of the program'"'"'s DLL' 'by=C:\t\by\outer.dll' -- --by 'C:\t\by\outer.dll'
compare 'LOAD_WITH_ALTERED_SEARCH_PATH' flags=0x8 'by=C:\t\by\outer.dll' -- --by 'C:\t\by\outer.dll' --flags 0x8
for flags in 0x200 0x400 0x600 0x800 0xa00 0xc00 0x1000; do
    compare "flags $flags" 'add=C:\t\u1' "flags=$flags" load=t.dll -- --add-dll-directory 'C:\t\u1' --flags "$flags"
done
for flags in 0x100 0x300 0x500 0x900 0x1100; do
    compare "flags $flags for an import" 'add=C:\t\u1' "flags=$flags" 'by=C:\t\by\outer.dll' -- --by 'C:\t\by\outer.dll' --add-dll-directory 'C:\t\u1' --flags "$flags"
done
compare 'AddDllDirectory without flags' 'add=C:\t\u1' load=t.dll -- --add-dll-directory 'C:\t\u1'
compare 'SetDefaultDllDirectories(0x1000)' 'add=C:\t\u1' default=0x1000 load=t.dll -- --add-dll-directory 'C:\t\u1' --flags 0x1000
"$wine" reg add "$session" /v SafeDllSearchMode /t REG_DWORD /d 0 /f >/dev/null 2>&1
compare 'SafeDllSearchMode off' load=t.dll -- --unsafe-search
"$wine" reg delete "$session" /v SafeDllSearchMode /f >/dev/null 2>&1

# Elements of PATH, names with folders, files that are no DLL for this program.
take_all
for number in 7 8; do cp "$folder/made/$number/t.dll" "$c/t/p$((number - 6))/"; done
path='t\p2;C:\t\p1'
same 'a relative element of PATH' 'cwd=C:\' load=t.dll -- --cwd 'C:\'
path='C:/t/p2/;C:\t\p1'
same 'slashes in PATH' load=t.dll --
path='C:\x;;C:\t\p2'
same 'a missing folder and an empty element of PATH' load=t.dll --
path='C:\t'
for needs in 'p2\t.dll' 'p2\t' 'C:\t\p2\t.dll' 'C:\t\p2\t' 'C:\t\else\t.dll'; do
    same "the name $needs" "load=$needs" --
done
needs=t.dll path='C:\t\p1;C:\t\p2'
mv "$c/t/p1/t.dll" "$folder/made/whole" && mkdir "$c/t/p1/t.dll"
wine_has '' 'a folder of that name ends the search' load=t.dll
rmdir "$c/t/p1/t.dll" && echo text >"$c/t/p1/t.dll"
same 'a file that is no DLL ends the search' load=t.dll --
cp "$folder/made/whole" "$c/t/p1/t.dll"
# Machine 0xaa64, behind the four letters where the word at 60 leads: a DLL for Arm.
printf '\144\252' | dd of="$c/t/p1/t.dll" bs=1 seek=$(($(od -An -tu4 -j60 -N4 "$c/t/p1/t.dll") + 4)) conv=notrunc 2>/dev/null
same 'a DLL for another machine ends the search' load=t.dll --
cp "$folder/made/whole" "$c/t/p1/t.dll"

wine_has '8 c:/t/p2/t.dll' 'loaded already, by another path' 'first=C:\t\p2\t.dll' load=t.dll
wine_has '8 c:/t/p2/t.dll' 'loaded already, with flags' 'first=C:\t\p2\t.dll' flags=0x800 load=t.dll
wine_has '7 c:/t/p1/t.dll' 'loaded already, asked for with a path' 'first=C:\t\p2\t.dll' 'load=C:\t\p1\t.dll'
for number in 1 2; do cp "$folder/made/$number/t.dll" "$c/t/u$number/"; done
wine_has '2 c:/t/u2/t.dll' 'of two AddDllDirectory the last' 'add=C:\t\u1' 'add=C:\t\u2' flags=0x400 load=t.dll
path='"C:\t\p1";C:\t\p2'
wine_has '8 c:/t/p2/t.dll' 'a quoted element of PATH is no folder' load=t.dll
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
