#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# `anydnn verify`: verify.sh ANYDNN MKELF CC SOURCE CASE SCRATCH. T names are those of the field reports. Libraries are built by the case.
set -eu
tool=$1 mkelf=$2 cc=$3 source=$4 case=$5 dir=$6
unset LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT CUDA_HOME CUDA_PATH TINY_STATUS TINY_FREE TINY_DRIVER
CC=$cc
export CC
rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

fail() {
    echo "FAILED $case: $1"
    cat "$dir/out" "$dir/err" 2>/dev/null
    exit 1
}
# verify CODE ARGUMENT...
verify() {
    wanted=$1
    shift
    code=0
    "$tool" verify --json "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted, for: verify $*"
}
says() { grep -qF -- "$1" "$dir/out" || fail "nothing says: $1"; }
says_not() { ! grep -qF -- "$1" "$dir/out" || fail "something says: $1"; }
finds() { says "\"id\":	\"$1\""; }
finds_not() { says_not "\"id\":	\"$1\""; }
result() { says "\"result\":	\"$1\""; }
# library FOLDER NAME SONAME [cc options]: the small cuDNN
library() {
    mkdir -p "$dir/$1"
    l_file=$dir/$1/$2 l_soname=$3
    shift 3
    "$cc" -O2 -shared -fPIC -o "$l_file" -Wl,-soname,"$l_soname" "$@" "$source/tests/cli/tiny_cudnn.c" -ldl
}
# other FOLDER NAME [cc options]: any library
other() {
    mkdir -p "$dir/$1"
    o_file=$dir/$1/$2 o_name=$2
    shift 2
    echo 'int cudnn_part;' >"$dir/part.c"
    "$cc" -shared -fPIC -o "$o_file" -Wl,-soname,"$o_name" "$dir/part.c" "$@"
}
parts8='ops_infer ops_train cnn_infer cnn_train adv_infer adv_train'
parts9='graph ops cnn adv engines_precompiled engines_runtime_compiled heuristic'
# set8 FOLDER [cc options of libcudnn]
set8() {
    s_folder=$1
    shift
    library "$s_folder" libcudnn.so.8 libcudnn.so.8 "$@"
    for part in $parts8; do other "$s_folder" libcudnn_$part.so.8; done
}
driver() { # FOLDER
    mkdir -p "$dir/$1"
    "$cc" -shared -fPIC -o "$dir/$1/libcuda.so.1" -Wl,-soname,libcuda.so.1 "$source/tests/cli/tiny_driver.c"
}

case $case in
process) # level 1: this file and its parts, from one place; a missing part; a part of another place; what is no library
    set8 a
    verify 0 "$dir/a" --level 1
    result pass
    says "\"$dir/a/libcudnn_adv_train.so.8\""
    says '"version":	"8907 (8.9.7)"'
    verify 0 "$dir/a/libcudnn.so.8" --level 1
    mkdir "$dir/b"
    mv "$dir/a/libcudnn_cnn_train.so.8" "$dir/b/"
    verify 1 "$dir/a" --level 1
    finds part-not-loaded
    says 'libcudnn_cnn_train.so.8 cannot be loaded'
    result fail
    LD_LIBRARY_PATH=$dir/b verify 1 "$dir/a" --level 1
    finds mixed-load
    says "\"$dir/b/libcudnn_cnn_train.so.8\""
    library w libcudnn.so.8 libcudnn.so.8
    echo 'no library' >"$dir/w/libcudnn.so.8"
    verify 3 "$dir/w/libcudnn.so.8"
    # A call that ends the process is told from one that never comes back.
    set8 c -DCHECK=libnot-there.so
    verify 1 "$dir/c" --level 1
    finds crashed
    says 'while it did cudnnCnnInferVersionCheck'
    says 'The missing file is libnot-there.so'
    ;;
T12) # a 32-bit libcuda.so is what the loader finds
    set8 a -DCHECK=libcuda.so
    mkdir "$dir/32"
    "$mkelf" "$dir/32/libcuda.so" soname=libcuda.so machine=x86
    LD_LIBRARY_PATH=$dir/32 verify 1 "$dir/a" --level 1
    finds wrong-class
    says "$dir/32/libcuda.so is a 32-bit file"
    finds_not part-not-loaded
    ;;
T14) # libcuda.so.1 is there, the bare name that cuDNN 8 opens is not
    set8 a -DCHECK=libcuda.so
    driver d
    LD_LIBRARY_PATH=$dir/d verify 1 "$dir/a" --level 1
    finds driver-missing
    says 'The missing file is libcuda.so, of the driver, and not a part of cuDNN.'
    finds_not part-not-loaded
    ln -s libcuda.so.1 "$dir/d/libcuda.so"
    LD_LIBRARY_PATH=$dir/d verify 0 "$dir/a" --level 1
    ;;
T16) # a program wants names of 9.1.0 where 9.5 is
    library site libcudnn.so.9 libcudnn.so.9 -DVERSION=90500
    for part in $parts9; do other site libcudnn_$part.so.9; done
    printf 'int main(void) { return 0; }\n' >"$dir/p.c"
    "$cc" -o "$dir/p" "$dir/p.c" -Wl,--no-as-needed "$dir/site/libcudnn_ops.so.9"
    verify 1 --for "$dir/p"
    finds not-found
    LD_LIBRARY_PATH=$dir/site verify 1 --for "$dir/p"
    says "\"loaded\":	\"$dir/site/libcudnn_ops.so.9\""
    says 'would not find a libcudnn'
    ;;
T18) # the library names a part that its own packages do not have, and another copy has it
    library a libcudnn.so.9 libcudnn.so.9 -DVERSION=92000 -Wl,-rpath,'$ORIGIN'
    library b libcudnn.so.9 libcudnn.so.9 -DVERSION=92200 -Wl,-rpath,'$ORIGIN'
    for part in $parts9; do other a libcudnn_$part.so.9; done
    for part in $parts9 engines_tensor_ir; do other b libcudnn_$part.so.9; done
    echo 'extern const char cudnn_names[]; const char cudnn_names[] = "libcudnn_engines_tensor_ir.so.9";' >"$dir/graph.c"
    "$cc" -shared -fPIC -o "$dir/a/libcudnn_graph.so.9" -Wl,-soname,libcudnn_graph.so.9 "$dir/graph.c"
    verify 0 "$dir/a" --level 1
    finds named-not-here
    LD_LIBRARY_PATH=$dir/b verify 1 "$dir/a" --level 1
    finds mixed-load
    says "\"$dir/b/libcudnn_engines_tensor_ir.so.9\""
    says_not "\"$dir/b/libcudnn_ops.so.9\""
    verify 0 "$dir/b" --level 1
    ;;
T20) # a part imports a symbol that the other build's part lacks: both are named, before the process dies of it
    set8 a
    printf 'int cudnnNew(void); int cudnnOld(void); int cudnnNew(void) { return 1; } int cudnnOld(void) { return 1; }\n' >"$dir/ops.c"
    printf 'libcudnn_ops_infer.so.8 { global: cudnn*; };\n' >"$dir/ops.map"
    "$cc" -shared -fPIC -o "$dir/a/libcudnn_ops_infer.so.8" "$dir/ops.c" -Wl,-soname,libcudnn_ops_infer.so.8,--version-script,"$dir/ops.map"
    printf 'int cudnnNew(void); int cudnnUse(void); int cudnnUse(void) { return cudnnNew(); }\n' >"$dir/cnn.c"
    "$cc" -shared -fPIC -o "$dir/a/libcudnn_cnn_infer.so.8" "$dir/cnn.c" "$dir/a/libcudnn_ops_infer.so.8" -Wl,-soname,libcudnn_cnn_infer.so.8
    verify 0 "$dir/a" --level 1
    printf 'int cudnnOld(void); int cudnnOld(void) { return 1; }\n' >"$dir/ops.c"
    "$cc" -shared -fPIC -o "$dir/a/libcudnn_ops_infer.so.8" "$dir/ops.c" -Wl,-soname,libcudnn_ops_infer.so.8,--version-script,"$dir/ops.map"
    verify 1 "$dir/a" --level 1
    finds undefined-symbol
    says 'needs the symbol cudnnNew of libcudnn_ops_infer.so.8'
    says "$dir/a/libcudnn_ops_infer.so.8"
    ;;
T37 | T38) # header and library of different versions
    set8 p/lib
    mkdir -p "$dir/p/include"
    header() { printf '#include <stddef.h>\n#define CUDNN_VERSION %s\nsize_t cudnnGetVersion(void);\n' "$1" >"$dir/p/include/cudnn.h"; }
    header 8907
    verify 0 "$dir/p" --level 2
    result pass
    says '"versions":	"header 8907, file 8907, running 8907"'
    finds needs-path
    printf '#include <cuda_runtime.h>\n#include <library_types.h>\n#include <stddef.h>\n#define CUDNN_VERSION 8907\nsize_t cudnnGetVersion(void);\nint cudnnSetStream(void *, cudaStream_t);\nint cudnnGetProperty(libraryPropertyType, int *);\n' \
        >"$dir/p/include/cudnn.h" # without CUDA's headers
    CUDA_HOME=$dir/none verify 0 "$dir/p" --level 2
    says '"CUDA headers":	"none here'
    header 8905
    verify 0 "$dir/p" --level 2
    says 'The header is of 8.9.5 (8905), the library of 8.9.7 (8907).'
    header 8600
    verify 1 "$dir/p" --level 2
    finds header-mismatch
    header 90100
    verify 1 "$dir/p" --level 2
    result fail
    echo '#error "not today"' >"$dir/p/include/cudnn.h"
    verify 1 "$dir/p" --level 2
    finds not-compiled
    says 'not today'
    # Another copy is first at run time.
    header 8907
    set8 other -DVERSION=8600
    LD_LIBRARY_PATH=$dir/other verify 1 "$dir/p" --level 2
    finds other-at-run-time
    rm "$dir/p/include/cudnn.h"
    verify 0 "$dir/p" --level 2
    result skip
    says 'there is no cudnn.h'
    [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'anydnn-verify-*' -newer "$dir/part.c" -user "$(id -u)" 2>/dev/null)" ] || fail "something was left behind"
    ;;
T45) # functions that a program imports and the library lacks
    set8 a -Wl,-rpath,'$ORIGIN'
    library later libcudnn.so.8 libcudnn.so.8 -DLATER
    printf 'int cudnnSetConvolutionGroupCount(void *, int); int cudnnFromLater(void);\nint main(void) { return cudnnSetConvolutionGroupCount(0, 1) + cudnnFromLater(); }\n' >"$dir/p.c"
    "$cc" -o "$dir/p" "$dir/p.c" "$dir/later/libcudnn.so.8" -Wl,-rpath,"$dir/a"
    verify 1 --for "$dir/p"
    finds undefined-symbol
    says 'needs 1 function of cuDNN that the library it would get does not have: cudnnFromLater'
    sed -i 's/ + cudnnFromLater()//' "$dir/p.c"
    "$cc" -o "$dir/p" "$dir/p.c" "$dir/a/libcudnn.so.8" -Wl,-rpath,"$dir/a"
    verify 0 --for "$dir/p"
    result pass
    verify 0 "$dir/a" --for "$dir/p"
    set8 b -Wl,-rpath,'$ORIGIN'
    verify 1 "$dir/b" --for "$dir/p"
    finds other-copy
    verify 3 --for "$dir/not-there"
    ;;
T51) # 9.25 without the two parts that older lists do not have: version and handle work, the convolution would not
    library a libcudnn.so.9 libcudnn.so.9 -DVERSION=92500
    for part in $parts9 engines_tensor_ir ext; do other a libcudnn_$part.so.9; done
    verify 0 "$dir/a" --level 1
    rm "$dir/a/libcudnn_engines_tensor_ir.so.9" "$dir/a/libcudnn_ext.so.9"
    verify 1 "$dir/a" --level 1
    says 'libcudnn_engines_tensor_ir.so.9 cannot be loaded'
    says 'libcudnn_ext.so.9 cannot be loaded'
    says '"cudnnCreate":	"CUDNN_STATUS_SUCCESS"'
    ;;
T53) # files that were changed after the install
    name=cudnn-linux-x86_64-8.9.7.99_cuda12-archive
    set8 "$name/lib"
    mkdir -p "$dir/$name/include"
    printf '#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n' >"$dir/$name/include/cudnn_version.h"
    printf '#include "cudnn_version.h"\n' >"$dir/$name/include/cudnn.h"
    echo license >"$dir/$name/LICENSE"
    tar -C "$dir" -cJf "$dir/$name.tar.xz" "$name"
    "$tool" install "$dir/$name.tar.xz" --prefix "$dir/prefix" >"$dir/out" 2>"$dir/err" || fail "install"
    verify 0 "$dir/prefix" --manifest
    result pass
    lib=$(find "$dir/prefix/opt" -name 'libcudnn_ops_infer.so.8*' -type f)
    library new libcudnn.so.8 libcudnn.so.8 -DVERSION=8500
    cp "$dir/new/libcudnn.so.8" "$lib.new"
    mv "$lib.new" "$lib"
    verify 1 "$dir/prefix" --manifest
    finds file-changed
    says 'libcudnn_ops_infer.so.8'
    verify 3 "$dir/new" --manifest
    ;;
T60) # NOT_INITIALIZED and INTERNAL_ERROR: no memory, an old driver, a missing part, a fork
    folder=cudnn-8.9.7_cuda12/lib
    set8 $folder
    driver d
    LD_LIBRARY_PATH=$dir/d
    export LD_LIBRARY_PATH
    verify 0 "$dir/$folder" --level 1
    says '"driver":	"CUDA 12.4"'
    says '"device memory":	"6000 MiB free of 8192"'
    TINY_STATUS=4 TINY_FREE=10 verify 1 "$dir/$folder" --level 1
    finds no-memory
    TINY_STATUS=1 TINY_DRIVER=11040 verify 1 "$dir/$folder" --level 1
    finds driver-too-old
    says 'The driver is of CUDA 11.4; this cuDNN was built for CUDA 12.'
    finds_not no-memory
    TINY_STATUS=1 verify 1 "$dir/$folder" --level 1
    finds create-failed
    mv "$dir/$folder/libcudnn_ops_infer.so.8" "$dir/"
    TINY_STATUS=1 verify 1 "$dir/$folder" --level 1
    finds part-not-loaded
    finds_not no-memory
    mv "$dir/libcudnn_ops_infer.so.8" "$dir/$folder/"
    cat >"$dir/p.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    pid_t child;
    if (!dlopen("libcuda.so.1", RTLD_NOW) || !dlopen(argv[argc - 1], RTLD_NOW) || (child = fork()) < 0)
        return 1;
    if (child > 0)
        printf("%d\n", (int)child), fflush(stdout);
    sleep(child > 0 ? 30 : 31);
    return 0;
}
END
    "$cc" -o "$dir/p" "$dir/p.c" -ldl
    "$dir/p" "$dir/$folder/libcudnn.so.8" >"$dir/pid" &
    parent=$!
    for i in $(seq 50); do [ -s "$dir/pid" ] || sleep 0.1; done
    child=$(cat "$dir/pid")
    trap 'kill $parent $child' EXIT
    verify 1 --pid "$child"
    finds forked-with-cuda
    verify 0 --pid $parent
    result pass
    finds_not forked-with-cuda
    set8 elsewhere
    verify 1 "$dir/elsewhere" --pid $parent
    finds not-loaded
    ;;
speed) # level 3 tells apart: right and fast, not loaded, wrong, slow, ended
    library right libcudnn.so.8 libcudnn.so.8 -O3
    library wrong libcudnn.so.8 libcudnn.so.8 -O3 -DWRONG
    library slow libcudnn.so.8 libcudnn.so.8 -O3 -DSLEEP_MS=300
    other none libgone.so
    library none libcudnn.so.8 libcudnn.so.8 -Wl,--no-as-needed "$dir/none/libgone.so"
    rm "$dir/none/libgone.so"
    verify 1 "$dir/wrong" --level 3
    finds wrong-result
    finds_not slow
    verify 1 "$dir/slow" --level 3
    finds slow
    says '"convolution":	"right'
    says '"threshold":	4'
    finds_not wrong-result
    verify 1 "$dir/none" --level 3
    finds not-loaded
    says 'libgone.so'
    # How fast this one is depends on the compiler; it is loaded and right.
    code=0
    "$tool" verify --json "$dir/right" --level 3 >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" -le 1 ] || fail "exit code $code"
    says '"convolution":	"right'
    finds_not wrong-result
    ;;
python) # a framework, started for real
    command -v python3 >/dev/null || exit 77
    set8 a
    mkdir -p "$dir/site/torch"
    printf 'import ctypes\n__version__ = "2.2"\nlib = ctypes.CDLL("%s")\n' "$dir/a/libcudnn.so.8" >"$dir/site/torch/__init__.py"
    printf 'from types import SimpleNamespace as N\nfrom . import lib\ncudnn = N(version=lambda: lib.cudnnGetVersion())\n' >"$dir/site/torch/backends.py"
    echo 'from . import backends' >>"$dir/site/torch/__init__.py"
    python=$(command -v python3)
    # -S and -s leave out what else the machine has.
    printf '#!/bin/sh\nexec %s -S -s "$@"\n' "$python" >"$dir/python"
    chmod 755 "$dir/python"
    PYTHONPATH=$dir/site verify 0 "$dir/a" --python "$dir/python"
    result pass
    says '"answer":	"2.2 8907"'
    says "\"$dir/a/libcudnn.so.8\""
    set8 b
    PYTHONPATH=$dir/site verify 1 "$dir/b" --python "$dir/python"
    finds mixed-load
    echo 'raise RuntimeError("no such thing")' >"$dir/site/torch/__init__.py"
    PYTHONPATH=$dir/site verify 1 --python "$dir/python"
    finds import-failed
    says 'no such thing'
    ;;
real) # the library of this build, as it is installed
    build=$(dirname "$tool")/..
    abi=9
    cmake -DDN_FACTS="$build/package/facts.cmake" -DDN_PREFIX="$dir/prefix" -DDN_INSTALL_ABI=$abi -P "$source/cmake/install_tree.cmake" >"$dir/out" 2>&1 || fail install
    tool=$dir/prefix/bin/anydnn
    verify 0 --level 1 --level 2
    result pass
    says_not '"result":	"skip"'
    says_not '"result":	"fail"'
    says "\"path\":	\"$dir/prefix/lib/libcudnn.so.9\""
    # How fast it is on a busy machine is no test; that it is right is.
    code=0
    "$tool" verify --json --level 3 >"$dir/out" 2>"$dir/err" || code=$?
    says '"convolution":	"right'
    # What verify cannot promise, run gives: the program's own RPATH leads elsewhere.
    library old libcudnn.so.9 libcudnn.so.9 -DVERSION=90100
    printf '#include <stdio.h>\n#include <stddef.h>\nsize_t cudnnGetVersion(void);\nint main(void) { printf("%%zu\\n", cudnnGetVersion()); return 0; }\n' >"$dir/p.c"
    "$cc" -o "$dir/p" "$dir/p.c" "$dir/old/libcudnn.so.9" -Wl,-rpath,"$dir/old",--disable-new-dtags
    [ "$("$dir/p")" = 90100 ] || fail "the program has no RPATH"
    [ "$("$tool" run --require -- "$dir/p")" = 91900 ] || fail "run gives another library"
    ;;
usage)
    verify 2 --level 4
    verify 2 --for
    verify 2 --pid x
    verify 2 a b
    verify 2 --no-such
    verify 2 --root "$dir" --level 1
    verify 2 --for /bin/true --manifest
    verify 3 "$dir/nothing-here"
    ;;
*) fail "there is no such case" ;;
esac
