#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Field cases of `anydnn which` on trees of tiny files: which.sh ANYDNN MKELF MKPE CC CASE SCRATCH. Case names are those of the reports.
set -eu
tool=$1 mkelf=$2 mkpe=$3 cc=$4 case=$5 dir=$6
unset LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH
rm -rf "$dir"
mkdir -p "$dir/root/etc" "$dir/root/usr/lib" "$dir/root/lib64"
dir=$(cd "$dir" && pwd)
root=$dir/root

fail() {
    echo "FAILED $case: $1"
    cat "$dir/out.json" "$dir/out.err" 2>/dev/null
    exit 1
}
# ask CODE ARGUMENT...: with --root, JSON in out.json
ask() {
    wanted=$1
    shift
    code=0
    "$tool" which --json --root "$root" "$@" >"$dir/out.json" 2>"$dir/out.err" || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted, for: which $*"
}
# member NAME MEMBER: of the answer for that name
member() {
    awk -F'\t' -v needs="\"$1\"," -v name="\"$2\":" '$(NF - 1) == "\"needs\":" { mine = $NF == needs }
        mine && $(NF - 1) == name { v = $NF; sub(/,$/, "", v); gsub(/"/, "", v); print v; exit }' "$dir/out.json"
}
# loads NAME PATH RULE
loads() {
    [ "$(member "$1" loaded)" = "$2" ] || fail "$1 leads to $(member "$1" loaded), not $2"
    [ "$(member "$1" rule)" = "$3" ] || fail "$1 is found by $(member "$1" rule), not $3"
}
misses() { [ "$(member "$1" loaded)" = null ] || fail "$1 is found"; }
says() { grep -qF -- "$1" "$dir/out.json" || fail "nothing says: $1"; }
says_not() { ! grep -qF -- "$1" "$dir/out.json" || fail "something says: $1"; }
lib() { # PATH SONAME [mkelf options]
    mkdir -p "$(dirname "$root$1")"
    l_path=$root$1
    l_soname=$2
    shift 2
    "$mkelf" "$l_path" soname="$l_soname" "$@"
}
# set8 DIR VERSION-NUMBER [options]: seven libraries under their SONAMEs
set8() {
    s_dir=$1 s_version=$2
    shift 2
    for part in '' _ops_infer _ops_train _cnn_infer _cnn_train _adv_infer _adv_train; do
        lib "$s_dir/libcudnn$part.so.8" "libcudnn$part.so.8" version="$s_version" "$@"
    done
}
dll() { # PATH [mkpe options]
    mkdir -p "$(dirname "$root$1")"
    d_path=$root$1
    shift
    "$mkpe" "$d_path" "$@"
}

case $case in
T16) # a name with more numbers than the file; the shorter one is there
    lib /opt/nv/libcudnn_ops.so.9 libcudnn_ops.so.9 version=90500
    ask 1 --env LD_LIBRARY_PATH=/opt/nv --needs libcudnn_ops.so.9.1.0
    misses libcudnn_ops.so.9.1.0
    says '"path":	"/opt/nv/libcudnn_ops.so.9.1.0"'
    says 'libcudnn_ops.so.9.1.0 is not found, but libcudnn_ops.so.9 is.'
    ask 1 --env LD_LIBRARY_PATH= --needs libcudnn_ops.so.9
    says '"id":	"path-empty"'
    ;;
T17) # malformed elements
    mkdir -p "$root/a"
    ask 1 --env 'LD_LIBRARY_PATH=/a:/usr/local/cuda/lib64\${LD..' --needs libcudnn.so.8
    says 'a variable that no shell has replaced'
    for element in '/a\' '~/lib' '' '/a"' ' /a' 'lib'; do
        ask 1 --env "LD_LIBRARY_PATH=/a:$element" --needs libcudnn.so.8
        says '"bad-path-element"'
        says "export LD_LIBRARY_PATH='/a"
    done
    ask 1 --env 'LD_LIBRARY_PATH=/a:/a/$LIB:${ORIGIN}/x' --needs libcudnn.so.8
    says_not bad-path-element
    ;;
T18) # one part comes from the system, the rest from the wheel
    for part in '' _graph _ops _cnn _adv _engines_precompiled _engines_runtime_compiled _heuristic; do
        lib /w/libcudnn$part.so.9 libcudnn$part.so.9 version=92000 'runpath=$ORIGIN'
        lib /usr/lib64/libcudnn$part.so.9 libcudnn$part.so.9 version=92200
    done
    lib /w/libcudnn.so.9 libcudnn.so.9 version=92000 'runpath=$ORIGIN' text=libcudnn_engines_tensor_ir.so.9
    lib /usr/lib64/libcudnn_engines_tensor_ir.so.9 libcudnn_engines_tensor_ir.so.9 version=92200
    lib /app/prog prog needed=libcudnn.so.9 rpath=/w
    ask 1 --exe /app/prog
    loads libcudnn.so.9 /w/libcudnn.so.9 rpath
    loads libcudnn_ops.so.9 /w/libcudnn_ops.so.9 runpath
    loads libcudnn_engines_tensor_ir.so.9 /usr/lib64/libcudnn_engines_tensor_ir.so.9 default
    says '"id":	"mixed-load"'
    ;;
T20) # a part that needs a symbol which the other build lacks
    printf 'libcudnn_ops_infer.so.8 { *; };\n' >"$dir/map"
    mkdir -p "$root/old" "$root/new"
    echo 'int cudnnOld(void) { return 1; }' >"$dir/old.c"
    echo 'int cudnnOld(void) { return 1; } int cudnnNew(void) { return 2; }' >"$dir/new.c"
    echo 'int cudnnNew(void); int cudnnUser(void) { return cudnnNew(); }' >"$dir/user.c"
    for age in old new; do
        "$cc" -shared -fPIC -nostdlib -o "$root/$age/libcudnn_ops_infer.so.8" "$dir/$age.c" -Wl,-soname,libcudnn_ops_infer.so.8 -Wl,--version-script="$dir/map"
    done
    "$cc" -shared -fPIC -nostdlib -o "$root/new/libcudnn_cnn_infer.so.8" "$dir/user.c" -Wl,-soname,libcudnn_cnn_infer.so.8 "$root/new/libcudnn_ops_infer.so.8"
    ask 1 --env LD_LIBRARY_PATH=/old:/new --needs libcudnn_cnn_infer.so.8
    says '"id":	"undefined-symbol"'
    says '/new/libcudnn_cnn_infer.so.8 needs the symbol cudnnNew of libcudnn_ops_infer.so.8, which /old/libcudnn_ops_infer.so.8 does not have.'
    ask 0 --env LD_LIBRARY_PATH=/new --needs libcudnn_cnn_infer.so.8
    says_not undefined-symbol
    ;;
T45) # built with the headers of another version: the functions that are missing, by name, with and without symbol versions
    mkdir -p "$root/v6" "$root/v7" "$root/v8" "$root/app"
    printf 'libcudnn.so.8 { *; };\n' >"$dir/map"
    echo 'int cudnnCreate(void) { return 1; }' >"$dir/v6.c"
    echo 'int cudnnCreate(void) { return 1; } int cudnnSetConvolutionGroupCount(void) { return 2; }' >"$dir/v7.c"
    echo 'int cudnnCreate(void); int cudnnSetConvolutionGroupCount(void); int use(void) { return cudnnCreate() + cudnnSetConvolutionGroupCount(); }' >"$dir/user.c"
    for v in 6 7; do
        "$cc" -shared -fPIC -nostdlib -o "$root/v$v/libcudnn.so.7" "$dir/v$v.c" -Wl,-soname,libcudnn.so.7
    done
    "$cc" -shared -fPIC -nostdlib -o "$root/app/libuser.so" "$dir/user.c" -Wl,-soname,libuser.so "$root/v7/libcudnn.so.7"
    ask 1 --exe /app/libuser.so --env LD_LIBRARY_PATH=/v6 --needs libcudnn.so.7
    says '"id":	"undefined-symbol"'
    says '/app/libuser.so needs cudnnSetConvolutionGroupCount, which /v6/libcudnn.so.7 does not have.'
    ask 0 --exe /app/libuser.so --env LD_LIBRARY_PATH=/v7 --needs libcudnn.so.7
    says_not undefined-symbol
    "$cc" -shared -fPIC -nostdlib -o "$root/v8/libcudnn.so.8" "$dir/v7.c" -Wl,-soname,libcudnn.so.8 -Wl,--version-script="$dir/map"
    "$cc" -shared -fPIC -nostdlib -o "$root/app/libuser.so" "$dir/user.c" -Wl,-soname,libuser.so "$root/v8/libcudnn.so.8"
    ask 0 --exe /app/libuser.so --env LD_LIBRARY_PATH=/v8 --needs libcudnn.so.8
    says_not undefined-symbol
    "$cc" -shared -fPIC -nostdlib -o "$root/v8/libcudnn.so.8" "$dir/v6.c" -Wl,-soname,libcudnn.so.8 -Wl,--version-script="$dir/map"
    ask 1 --exe /app/libuser.so --env LD_LIBRARY_PATH=/v8 --needs libcudnn.so.8
    says 'needs cudnnSetConvolutionGroupCount, which /v8/libcudnn.so.8 does not have.'
    ;;
T21) # libcudnn by RPATH from its own folder, its parts by the variable from another
    set8 /A 8902
    set8 /B 8600
    lib /app/libtorch_cuda.so libtorch_cuda.so needed=libcudnn.so.8 'rpath=/A'
    # Needed by an object with RPATH, libcudnn passes that RPATH on to what it opens: all from A.
    ask 0 --env LD_LIBRARY_PATH=/B --exe /app/libtorch_cuda.so
    loads libcudnn.so.8 /A/libcudnn.so.8 rpath
    loads libcudnn_cnn_train.so.8 /A/libcudnn_cnn_train.so.8 rpath
    # Opened by path, as PyTorch's preloading does, it has nobody's RPATH: the parts come from B.
    ask 1 --env LD_LIBRARY_PATH=/B --needs /A/libcudnn.so.8 --needs libcudnn_cnn_train.so.8
    loads libcudnn_cnn_train.so.8 /B/libcudnn_cnn_train.so.8 LD_LIBRARY_PATH
    says '"id":	"mixed-load"'
    lib /app/python python
    lib /app/libtorch_cuda.so libtorch_cuda.so needed=libcudnn.so.8 'rpath=/A'
    ask 0 --env LD_LIBRARY_PATH=/B --exe /app/python --by /app/libtorch_cuda.so --needs libcudnn.so.8
    loads libcudnn.so.8 /A/libcudnn.so.8 already-loaded
    # The same with a RUNPATH of its own, which also ends the inheritance.
    set8 /A 8902 'runpath=$ORIGIN'
    ask 1 --env LD_LIBRARY_PATH=/B --exe /app/libtorch_cuda.so
    loads libcudnn.so.8 /A/libcudnn.so.8 rpath
    loads libcudnn_cnn_train.so.8 /B/libcudnn_cnn_train.so.8 LD_LIBRARY_PATH
    says '"id":	"mixed-load"'
    ;;
T22) # RUNPATH serves only its own object
    lib /x/libcudnn.so.8 libcudnn.so.8 needed=libcudnn_cnn_infer.so.8 'runpath=$ORIGIN'
    lib /x/libcudnn_cnn_infer.so.8 libcudnn_cnn_infer.so.8 needed=libcudnn_ops_infer.so.8
    lib /x/libcudnn_ops_infer.so.8 libcudnn_ops_infer.so.8
    ask 1 --needs /x/libcudnn.so.8 --needs libcudnn_ops_infer.so.8
    misses /x/libcudnn.so.8
    misses libcudnn_ops_infer.so.8
    says '"by":	"/x/libcudnn_cnn_infer.so.8"'
    says '"id":	"runpath-not-inherited"'
    lib /x/libcudnn.so.8 libcudnn.so.8 needed=libcudnn_cnn_infer.so.8 'rpath=$ORIGIN'
    ask 0 --needs /x/libcudnn.so.8 --needs libcudnn_ops_infer.so.8
    loads libcudnn_ops_infer.so.8 /x/libcudnn_ops_infer.so.8 rpath
    ;;
T23 | T24) # RUNPATH comes after the variable, RPATH before it; set-user-ID programs ignore the variable
    lib /own/libcudnn.so.8 libcudnn.so.8 version=8302
    lib /var/libcudnn.so.8 libcudnn.so.8 version=8003
    lib /app/runpath runpath needed=libcudnn.so.8 runpath=/own
    lib /app/rpath rpath needed=libcudnn.so.8 rpath=/own
    ask 0 --env LD_LIBRARY_PATH=/var --exe /app/runpath --needs libcudnn.so.8
    loads libcudnn.so.8 /var/libcudnn.so.8 LD_LIBRARY_PATH
    says '"shadowed":	["/own/libcudnn.so.8"]'
    ask 0 --env LD_LIBRARY_PATH=/var --exe /app/rpath --needs libcudnn.so.8
    loads libcudnn.so.8 /own/libcudnn.so.8 rpath
    ask 0 --env LD_LIBRARY_PATH=/var --exe /app/runpath --secure --needs libcudnn.so.8
    loads libcudnn.so.8 /own/libcudnn.so.8 runpath
    says '"id":	"secure-mode"'
    chmod 4755 "$root/app/runpath"
    ask 0 --env LD_LIBRARY_PATH=/var --exe /app/runpath --needs libcudnn.so.8
    loads libcudnn.so.8 /own/libcudnn.so.8 runpath
    ;;
T25) # the loader takes the variable's, programs that read the cache the cache's
    command -v ldconfig >/dev/null || { echo "skipped: no ldconfig"; exit 77; }
    # Without root ldconfig writes the paths of this machine; the tree has the same paths below $dir/seen.
    mkdir -p "$root$dir/seen"
    ln -s "$root$dir/seen" "$dir/seen"
    for base in "$dir/seen" as-root; do
        [ "$base" != as-root ] || [ "$(id -u)" = 0 ] || { echo "without root: ldconfig -r is not tried" && continue; }
        for format in new compat; do
            [ "$base" = as-root ] && at='' || at=$base
            lib "$at/A/libcudnn.so.8" libcudnn.so.8
            lib "$at/B/libcudnn.so.8" libcudnn.so.8
            echo "$at/A" >"$root/etc/ld.so.conf"
            case $base in
            as-root) ldconfig -c $format -r "$root" 2>/dev/null || continue ;;
            *) ldconfig -c $format -X -f "$root/etc/ld.so.conf" -C "$root/etc/ld.so.cache" 2>/dev/null || continue ;; # compat: the new format behind the old one
            esac
            ask 0 --env "LD_LIBRARY_PATH=$at/B" --needs libcudnn.so.8
            loads libcudnn.so.8 "$at/B/libcudnn.so.8" LD_LIBRARY_PATH
            says "The loader would take $at/B/libcudnn.so.8 for libcudnn.so.8; programs that parse \`ldconfig -p\` take $at/A/libcudnn.so.8."
            ask 0 --needs libcudnn.so.8
            loads libcudnn.so.8 "$at/A/libcudnn.so.8" cache
            done_formats="${done_formats:-} $format"
        done
    done
    case ${done_formats:-} in *new*) ;; *) fail "ldconfig made no cache" ;; esac
    printf 'glibc-ld.so.cache1.1\377\377\377\377' >"$root/etc/ld.so.cache"
    ask 1 --needs libcudnn.so.8
    says '"id":	"no-cache"'
    ;;
T26) # conda's older copy in front of pip's, because the activation script appends
    env=/opt/env site=/opt/env/lib/python3.9/site-packages
    lib $env/bin/python3.9 python3.9 'rpath=$ORIGIN/../none'
    ln -s python3.9 "$root$env/bin/python3"
    mkdir -p "$root$env/conda-meta" "$root$env/etc/conda/activate.d" "$root$site/tensorflow/python" "$root$site/tensorflow-2.12.0.dist-info"
    echo 'export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$CONDA_PREFIX/lib/:$CUDNN_PATH/lib' >"$root$env/etc/conda/activate.d/env_vars.sh"
    lib $env/lib/libcudnn.so.8 libcudnn.so.8 version=8100
    lib $site/nvidia/cudnn/lib/libcudnn.so.8 libcudnn.so.8 version=8600
    lib $site/tensorflow/libtensorflow_framework.so.2 libtensorflow_framework.so.2
    lib $site/tensorflow/python/_pywrap_tensorflow_internal.so _pywrap_tensorflow_internal.so needed=libtensorflow_framework.so.2 'runpath=$ORIGIN/..'
    ask 1 --python $env --env LD_LIBRARY_PATH=$env/lib:$site/nvidia/cudnn/lib --needs libcudnn.so.8
    loads libcudnn.so.8 $env/lib/libcudnn.so.8 LD_LIBRARY_PATH
    says "\"shadowed\":	[\"$site/nvidia/cudnn/lib/libcudnn.so.8\"]"
    says '"framework":	"TensorFlow"'
    says "\"$site/nvidia/cudnn/lib/libcudnn.so.8\""
    says "$env/etc/conda/activate.d/env_vars.sh, line 1"
    ;;
T30) # the newer copy is the second
    lib /usr/local/old/libcudnn.so.8 libcudnn.so.8 version=8005
    lib /usr/local/new/libcudnn.so.8 libcudnn.so.8 version=8100
    ask 0 --env LD_LIBRARY_PATH=/usr/local/old:/usr/local/new --needs libcudnn.so.8
    loads libcudnn.so.8 /usr/local/old/libcudnn.so.8 LD_LIBRARY_PATH
    says '"shadowed":	["/usr/local/new/libcudnn.so.8"]'
    says '"id":	"shadowed-copies"'
    ;;
torch) # the wheel's own loading code: where libtorch_global_deps misses something, the nvidia wheels are opened by path
    env=/venv site=/venv/lib/python3.11/site-packages
    lib /usr/bin/python3.11 python3.11
    mkdir -p "$root$env/bin"
    ln -s /usr/bin/python3.11 "$root$env/bin/python3"
    printf 'home = /usr/bin\ninclude-system-site-packages = false\n' >"$root$env/pyvenv.cfg"
    lib $site/torch/lib/libtorch_global_deps.so libtorch_global_deps.so needed=libcublas.so.12
    lib $site/torch/lib/libtorch_cuda.so libtorch_cuda.so needed=libcudnn.so.8 'runpath=$ORIGIN'
    lib $site/torch/lib/libtorch_python.so libtorch_python.so needed=libtorch_cuda.so 'runpath=$ORIGIN'
    lib $site/torch/_C.cpython-311-x86_64-linux-gnu.so _C needed=libtorch_python.so 'runpath=$ORIGIN/lib'
    lib $site/nvidia/cublas/lib/libcublas.so.12 libcublas.so.12
    lib $site/nvidia/cudnn/lib/libcudnn.so.8 libcudnn.so.8 version=8902
    lib /B/libcudnn.so.8 libcudnn.so.8 version=8600
    ask 0 --python /venv --env LD_LIBRARY_PATH=/B --needs libcudnn.so.8
    [ "$(member libcudnn.so.8 real)" = $site/nvidia/cudnn/lib/libcudnn.so.8 ] || fail "the copy that was opened by path counts"
    says '"framework":	"PyTorch"'
    ;;
rules) # what the loader passes by, and what stops it
    lib /a/libcudnn.so.8 libcudnn.so.8 machine=aarch64
    lib /b/libcudnn.so.8 libcudnn.so.8
    ask 0 --env LD_LIBRARY_PATH=/a:/b --needs libcudnn.so.8
    loads libcudnn.so.8 /b/libcudnn.so.8 LD_LIBRARY_PATH
    says 'is for aarch64'
    says '"id":	"no-cache"'
    echo '<html>a page that was saved under the name of a library, long enough for a header</html>' >"$root/a/libcudnn.so.8"
    ask 1 --env LD_LIBRARY_PATH=/a:/b --needs libcudnn.so.8
    misses libcudnn.so.8
    says '"id":	"bad-file"'
    mkdir -p "$root/esc"
    ln -s "$dir/outside.so" "$root/esc/libcudnn.so.8"
    "$mkelf" "$dir/outside.so" soname=libcudnn.so.8
    ask 1 --env LD_LIBRARY_PATH=/esc --needs libcudnn.so.8
    misses libcudnn.so.8
    lib /p/libpre.so libcudnn.so.8
    ask 0 --env LD_PRELOAD=/p/libpre.so --env LD_LIBRARY_PATH=/b --needs libcudnn.so.8
    loads libcudnn.so.8 /p/libpre.so already-loaded
    ask 3 --exe /not/there
    ask 2 --exe /a --python
    ask 2 --env WRONG
    ;;
T47) # Python 3.8: PATH does not count
    dll /Windows/System32/kernel32.dll
    dll /cuda/bin/cudnn64_8.dll import=zlibwapi.dll import=KERNEL32.dll
    dll /cuda/bin/zlibwapi.dll
    ask 0 --windows-path 'C:\cuda\bin' --needs cudnn64_8.dll
    loads cudnn64_8.dll 'C:\\cuda\\bin\\cudnn64_8.dll' path
    for flags in 0x1000 0x1100; do
        ask 1 --windows-path 'C:\cuda\bin' --flags $flags --exe 'C:\py\python.exe' --by 'C:\py\x\m.pyd' --needs cudnn64_8.dll
        misses cudnn64_8.dll
        says_not '"rule":	"path"'
        says 'os.add_dll_directory(r\"C:\\cuda\\bin\")'
    done
    ask 0 --windows-path 'C:\cuda\bin' --flags 0x1100 --add-dll-directory 'C:\CUDA\Bin' --exe 'C:\py\python.exe' --needs cudnn64_8.dll
    loads cudnn64_8.dll 'C:\\CUDA\\Bin\\cudnn64_8.dll' add-dll-directory
    rm "$root/cuda/bin/zlibwapi.dll" # error 126
    ask 1 --windows-path 'C:\cuda\bin' --needs cudnn64_8.dll
    says 'imports zlibwapi.dll, which Windows does not find.'
    ;;
windows) # the standard order, place by place: each copy is found once those before it are gone
    order='app/cudnn64_8.dll:application Windows/System32/cudnn64_8.dll:system32 Windows/System/cudnn64_8.dll:system16
           Windows/cudnn64_8.dll:windows here/cudnn64_8.dll:cwd p1/cudnn64_8.dll:path p2/cudnn64_8.dll:path'
    for place in $order; do dll "/drive_c/${place%:*}"; done
    for place in $order; do
        ask 0 --windows-path 'C:\p1;"C:\p2"' --exe 'C:\app\app.exe' --cwd 'C:\here' --needs CUDNN64_8.dll
        [ "$(member CUDNN64_8.dll rule)" = "${place#*:}" ] || fail "$place does not come now"
        rm "$root/drive_c/${place%:*}"
    done
    dll /drive_c/here/cudnn64_8.dll
    dll /drive_c/Windows/System32/cudnn64_8.dll
    ask 0 --windows-path 'C:\p1' --unsafe-search --cwd 'C:\here' --needs cudnn64_8.dll
    [ "$(member cudnn64_8.dll rule)" = cwd ] || fail "without the safe mode the current directory comes before the system's"
    dll /drive_c/p1/zlibwapi.dll machine=x86 # error 193: Windows does not look further
    dll /drive_c/p2/zlibwapi.dll
    ask 1 --windows-path 'C:\p1;C:\p2' --needs zlibwapi.dll
    misses zlibwapi.dll
    says 'error 193'
    ;;
T32 | T57) # a running process: what it has mapped, other CUDA libraries beside it, files that were removed since
    for name in libcudnn.so.8 libcudart.so.11.0 libcudart.so.12; do
        echo 'int x;' >"$dir/x.c"
        "$cc" -shared -fPIC -nostdlib -o "$dir/$name" "$dir/x.c" -Wl,-soname,$name
    done
    printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("up"); fflush(stdout); sleep(60); return 0; }\n' >"$dir/p.c"
    "$cc" -o "$dir/p" "$dir/p.c" -Wl,--no-as-needed "$dir/libcudnn.so.8" "$dir/libcudart.so.11.0" "$dir/libcudart.so.12" -Wl,-rpath,"$dir"
    "$dir/p" >"$dir/up" &
    pid=$!
    trap 'kill $pid' EXIT
    for i in 1 2 3 4 5 6 7 8 9 10; do [ -s "$dir/up" ] || sleep 0.3; done
    code=0
    "$tool" which --json --pid $pid --needs libcudnn.so.8 >"$dir/out.json" 2>"$dir/out.err" || code=$?
    [ "$(member libcudnn.so.8 loaded)" = "$dir/libcudnn.so.8" ] || fail "not loaded"
    [ "$(member libcudnn.so.8 rule)" = runpath ] || [ "$(member libcudnn.so.8 rule)" = rpath ] || fail "wrong rule"
    says "\"path\":	\"$dir/libcudart.so.12\""
    says '"id":	"two-runtimes"'
    [ $code = 1 ] || fail "exit code $code"
    rm "$dir/libcudnn.so.8"
    "$tool" which --json --pid $pid >"$dir/out.json" 2>"$dir/out.err" || true
    says '"id":	"deleted"'
    [ "$(member libcudnn.so.8 deleted)" = true ] || fail "not marked as removed"
    ;;
*) fail "there is no such case" ;;
esac
