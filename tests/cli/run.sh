#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# `anydnn run`: run.sh ANYDNN CC SOURCE CASE SCRATCH. Programs and libraries are built by the case.
set -eu
tool=$1 cc=$2 source=$3 case=$4 dir=$5
unset LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT
rm -rf "$dir"
mkdir -p "$dir/chosen" "$dir/other"
dir=$(cd "$dir" && pwd)

fail() {
    echo "FAILED $case: $1"
    cat "$dir/out" "$dir/err" "$dir/report" 2>/dev/null
    exit 1
}
# library FOLDER VERSION MAJOR [PART]
library() {
    "$cc" -shared -fPIC -DVERSION="$2" -o "$dir/$1/libcudnn${4:-}.so.$3" -Wl,-soname,"libcudnn${4:-}.so.$3" "$source/tests/cli/tiny_cudnn.c" -ldl
}
# start CODE ARGUMENT...
start() {
    wanted=$1
    shift
    code=0
    "$tool" run --report "$dir/report" "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted, for: run $*"
}
prints() { grep -qx -- "$1" "$dir/out" || fail "the program does not print: $1"; }
says() { grep -qF -- "$1" "$dir/err" || fail "nothing says: $1"; }
# Shells name the signal that ended a program.
silent() { ! grep -qv '^Aborted' "$dir/err" || fail "something is on standard error"; }
reports() { grep -qF -- "$1" "$dir/report" || fail "the report lacks: $1"; }

library chosen 8907 8
library other 8100 8
cat >"$dir/user.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef LINKED
size_t cudnnGetVersion(void);
#endif
static void ask(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    size_t (*version)(void) = NULL;
    void *found = library ? dlsym(library, "cudnnGetVersion") : NULL;
    memcpy(&version, &found, sizeof version);
    printf("%s: %zu\n", name, version ? version() : 0);
}
int main(int argc, char **argv)
{
#ifdef LINKED
    printf("linked: %zu\n", cudnnGetVersion());
#endif
    for (int i = 2; i < argc; i++)
        ask(argv[i]);
    fflush(stdout);
    return argc > 1 ? atoi(argv[1]) : 0;
}
END
"$cc" -o "$dir/opens" "$dir/user.c" -ldl
# Old dynamic tags: the RPATH that nothing else overrides.
"$cc" -DLINKED -o "$dir/linked" "$dir/user.c" "$dir/other/libcudnn.so.8" -ldl -Wl,-rpath,"$dir/other" -Wl,--disable-new-dtags

case $case in
search) # against RPATH, absolute paths, the bare and the long name, a wheel's hashed name; nothing is printed where all is well
    [ "$("$dir/linked")" = 'linked: 8100' ] || fail "the program has no RPATH"
    start 0 --lib "$dir/chosen" -- "$dir/linked"
    prints 'linked: 8907'
    silent
    reports '"proved":	true'
    start 7 --lib "$dir/chosen/libcudnn.so.8" --verbose -- "$dir/opens" 7 "$dir/other/libcudnn.so.8" libcudnn.so libcudnn.so.8.9.1 libcudnn-0a1b2c3d.so.8.9.2
    prints "$dir/other/libcudnn.so.8: 8907"
    prints 'libcudnn.so: 8907'
    prints 'libcudnn.so.8.9.1: 8907'
    prints 'libcudnn-0a1b2c3d.so.8.9.2: 8907'
    says "loaded $dir/chosen/libcudnn.so.8"
    LD_LIBRARY_PATH=$dir/other start 0 --lib "$dir/chosen" -- sh -c "'$dir/linked' && '$dir/opens' 0 libcudnn.so.8"
    prints 'linked: 8907'
    prints 'libcudnn.so.8: 8907'
    silent
    # Its neighbours, whose names only start alike, are left alone.
    printf 'int x;' >"$dir/x.c"
    "$cc" -shared -fPIC -o "$dir/other/libcudnn_frontend.so.1" "$dir/x.c"
    start 0 --lib "$dir/chosen" -- "$dir/opens" 0 "$dir/other/libcudnn_frontend.so.1" libcudnn.so.8
    silent
    ;;
other) # it did not happen: no libcudnn at all, another major version, a file that the folder lacks; the program's code stays its own
    start 0 --lib "$dir/chosen" -- true
    says '[not-loaded]'
    says 'none opened a libcudnn'
    reports '"proved":	false'
    start 1 --lib "$dir/chosen" --require -- true
    start 5 --lib "$dir/chosen" --require -- "$dir/opens" 5
    library other 7605 7
    start 0 --lib "$dir/chosen" -- "$dir/opens" 0 "$dir/other/libcudnn.so.7"
    prints "$dir/other/libcudnn.so.7: 7605"
    says 'The program asks for libcudnn.so.7'
    says 'is the interface of cuDNN 8'
    library other 8100 8 _extra
    start 1 --lib "$dir/chosen" --require -- "$dir/opens" 0 libcudnn.so.8 "$dir/other/libcudnn_extra.so.8"
    says '[other-copy]'
    says "$dir/other/libcudnn_extra.so.8"
    ;;
streams) # input, output, exit code, signals, stopping
    code=0
    printf 'a\nb\n' | "$tool" run --lib "$dir/chosen" -- sh -c 'cat; echo e >&2; exit 3' >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 3 ] || fail "exit code $code"
    [ "$(cat "$dir/out")" = "$(printf 'a\nb')" ] || fail "output is not the program's"
    [ "$(head -1 "$dir/err")" = e ] || fail "errors are not the program's"
    for signal in 15 11 9 6 1; do
        code=0
        "$tool" run --lib "$dir/chosen" -- sh -c "kill -$signal \$\$" >"$dir/out" 2>"$dir/err" || code=$?
        [ "$code" = $((128 + signal)) ] || fail "exit code $code after $signal"
    done
    # A signal to the tool reaches the program, which may make of it what it will.
    "$tool" run --lib "$dir/chosen" -- sh -c 'trap "echo caught; exit 9" TERM USR1; echo up; while :; do sleep 0.05; done' >"$dir/out" 2>"$dir/err" &
    pid=$!
    for i in $(seq 100); do grep -q up "$dir/out" || sleep 0.1; done
    kill -USR1 $pid
    code=0
    wait $pid || code=$?
    [ "$code" = 9 ] || fail "exit code $code after USR1"
    prints caught
    # Stopped and going on.
    "$tool" run --lib "$dir/chosen" -- sh -c 'echo up; kill -STOP $$; exit 4' >"$dir/out" 2>"$dir/err" &
    pid=$!
    for i in $(seq 100); do case $(cut -d' ' -f3 "/proc/$pid/stat") in T) break ;; *) sleep 0.1 ;; esac; done
    [ "$(cut -d' ' -f3 "/proc/$pid/stat")" = T ] || fail "the tool is not stopped with the program"
    kill -CONT $pid
    code=0
    wait $pid || code=$?
    [ "$code" = 4 ] || fail "exit code $code after CONT"
    start 127 --lib "$dir/chosen" -- "$dir/no-such-program"
    start 126 --lib "$dir/chosen" -- "$dir"
    start 3 --lib "$dir/nothing" -- true
    start 2 --lib "$dir/chosen" true
    start 2 --lib "$dir/chosen" --
    ;;
killed) # what was loaded before a violent end is known
    printf '#include <stdlib.h>\n#include <stddef.h>\nsize_t cudnnGetVersion(void);\nint main(void) { if (cudnnGetVersion() != 8907) return 1; abort(); }\n' >"$dir/a.c"
    "$cc" -o "$dir/aborts" "$dir/a.c" "$dir/other/libcudnn.so.8" -Wl,-rpath,"$dir/other"
    start 134 --lib "$dir/chosen" -- "$dir/aborts"
    reports '"proved":	true'
    silent
    ;;
static) # programs whose loader cannot be asked run, and the sentence says why
    "$cc" -static -o "$dir/static" -x c - <<'END' || { echo "skipped: no static C library"; exit 77; }
int main(void) { return 6; }
END
    start 6 --lib "$dir/chosen" -- "$dir/static"
    says 'is linked statically'
    cp "$dir/linked" "$dir/setuid"
    chmod 4755 "$dir/setuid"
    # For its own owner a set-user-ID program is a program like any other.
    [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null || {
        chmod 755 "$dir" "$dir/other" "$dir/chosen"
        code=0
        setpriv --reuid 65534 --clear-groups "$tool" run --lib "$dir/chosen" -- "$dir/setuid" >"$dir/out" 2>"$dir/err" || code=$?
        # The folder may lie where another user cannot go.
        [ "$code" != 0 ] || says 'ignores LD_AUDIT'
    }
    # A static program may start others.
    "$cc" -static -DPROGRAM="\"$dir/linked\"" -o "$dir/starts" -x c - <<'END'
#include <unistd.h>
int main(void) { return execl(PROGRAM, PROGRAM, (char *)0); }
END
    start 0 --lib "$dir/chosen" -- "$dir/starts"
    prints 'linked: 8907'
    silent
    ;;
calls) # calls between libraries are bound as without the audit library: it has none of the functions that would change that
    audit=$(dirname "$tool")/../lib/anydnn/libanydnn_audit.so
    command -v nm >/dev/null || exit 77
    names=$(nm -D --defined-only "$audit" | awk '{ print $3 }' | sort | tr '\n' ' ')
    [ "$names" = 'la_activity la_objopen la_objsearch la_version ' ] || fail "it exports: $names"
    [ -z "$(nm -D --undefined-only "$audit")" ] || fail "it calls into other libraries"
    ;;
*) fail "there is no such case" ;;
esac
