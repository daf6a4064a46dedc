#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Field cases of `anydnn inspect` on tiny files that it makes itself: inspect.sh BIN_DIR TEST_DIR CASE SCRATCH [CC INCLUDE_DIR, for T43]
# BIN_DIR holds anydnn, TEST_DIR mkelf and mkpe. The case names are those of the reports that they come from.
set -eu
tool=$1/anydnn elf=$2/mkelf pe=$2/mkpe case=$3 dir=$4
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
dir=$(pwd)

fail() {
    echo "FAILED $case: $1"
    cat "$dir/out.json" 2>/dev/null
    exit 1
}
# look WANTED_CODE ARGUMENT...: the JSON goes to out.json
look() {
    wanted=$1
    shift
    code=0
    "$tool" inspect --json "$@" >"$dir/out.json" 2>"$dir/out.err" || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted, for: inspect $*"
}
# One line for each finding: id, severity, what, where, fix.
findings() {
    awk -F'\t' '/"id":/ { id = $NF } /"severity":/ { severity = $NF } /"what":/ { what = $NF } /"where":/ { where = $NF }
                /"fix":/ { print id, severity, what, where, $NF }' "$dir/out.json" | tr -d '\\'
}
# has ID SEVERITY [TEXT...]: exactly one finding of this id and severity with each text in its line
has() {
    line=$(findings | grep "^\"$1\", \"$2\"") || fail "no $2 $1"
    [ "$(echo "$line" | wc -l)" = 1 ] || fail "more than one $1"
    shift 2
    for text in "$@"; do
        case $line in *"$text"*) ;; *) fail "\"$text\" is not in: $line" ;; esac
    done
}
hasnt() {
    for id in "$@"; do
        findings | grep -q "^\"$id\"" && fail "there is a finding $id"
    done
    return 0
}
# field PATH_END NAME VALUE: the file whose path ends so has this member
field() {
    awk -F'\t' -v end="$1\"," -v name="\"$2\":" -v value="$3" '
        /"path":/ { mine = substr($NF, length($NF) - length(end) + 1) == end }
        mine && $(NF - 1) == name { got = $NF; sub(/,$/, "", got); gsub(/"/, "", got); if (got == value) ok = 1 }
        END { exit !ok }' "$dir/out.json" || fail "$2 of $1 is not $3"
}
# set8 DIR VERSION NUMBERS [mkelf options]: seven libraries with full names and their links
parts8="_ops_infer _ops_train _cnn_infer _cnn_train _adv_infer _adv_train"
parts9="_graph _ops _cnn _adv _engines_precompiled _engines_runtime_compiled _heuristic"
set8() {
    to=$1 number=$2 text=$3
    shift 3
    mkdir -p "$to"
    for p in "" $parts8; do
        "$elf" "$to/libcudnn$p.so.$text" soname="libcudnn$p.so.8" version="$number" "$@"
        ln -s "libcudnn$p.so.$text" "$to/libcudnn$p.so.8"
        ln -s "libcudnn$p.so.8" "$to/libcudnn$p.so"
    done
}
# set9 DIR VERSION [more parts]: SONAMEs only, as in a wheel
set9() {
    to=$1 number=$2
    shift 2
    mkdir -p "$to"
    for p in "" $parts9 "$@"; do
        "$elf" "$to/libcudnn$p.so.9" soname="libcudnn$p.so.9" version="$number"
    done
}
header() { # header FILE MAJOR MINOR PATCH
    mkdir -p "$(dirname "$1")"
    printf '#define CUDNN_MAJOR %s\n#define CUDNN_MINOR %s\n#define CUDNN_PATCHLEVEL %s\n' "$2" "$3" "$4" >"$1"
}

case $case in
good)
    set8 p/lib 8907 8.9.7
    header p/include/cudnn_version.h 8 9 7
    echo '#include "cudnn_version.h"' >p/include/cudnn.h
    look 0 p
    [ -z "$(findings)" ] || fail "a good tree has findings"
    field libcudnn.so.8.9.7 version 8.9.7
    field libcudnn.so.8.9.7 abi 8
    field libcudnn.so.8 links_to libcudnn.so.8.9.7
    field cudnn_version.h version 8.9.7
    # the same from an archive
    tar cJf mine_cuda12-archive.tar.xz p
    look 0 mine_cuda12-archive.tar.xz
    [ -z "$(findings)" ] || fail "a good archive has findings"
    field p/lib/libcudnn_cnn_infer.so.8 version 8.9.7
    field p/lib/libcudnn_cnn_infer.so.8 cuda 12
    field p/lib/libcudnn.so links_to libcudnn.so.8 ;;
T3)
    set8 p/lib 8003 8.0.3 pad=70000
    for p in "" $parts8; do
        for n in .8 ""; do
            rm "p/lib/libcudnn$p.so$n"
            cp "p/lib/libcudnn$p.so.8.0.3" "p/lib/libcudnn$p.so$n"
        done
    done
    size=$(wc -c <p/lib/libcudnn.so)
    look 1 p
    has copies-not-links warning "14 names" "ln -sf"
    findings | grep -q "$((size * 2)) bytes" && fail "only one family was counted"
    # the fix is a command: it leaves a tree without the finding, and loses no library
    fix=$(sed -n 's/^.*"fix":.*"\(cd .*\)"$/\1/p' out.json)
    [ -n "$fix" ] || fail "the fix cannot be read"
    sh -c "$fix"
    look 0 p
    hasnt copies-not-links incomplete no-soname-link
    [ "$(find p -type f -name '*.so*' | wc -l)" = 7 ] || fail "not seven files are left" ;;
T4)
    "$elf" libcudnn.so.5 soname=libcudnn.so.8 version=8005
    look 1 libcudnn.so.5
    has soname-under-other-name error "SONAME libcudnn.so.8 under the name libcudnn.so.5" ;;
T5)
    "$pe" cudnn64_7.dll name=cudnn64_8.dll version=8200
    look 1 cudnn64_7.dll
    has renamed-dll error cudnn64_7.dll cudnn64_8.dll
    field cudnn64_7.dll version 8.2.0
    field cudnn64_7.dll abi 8 ;;
T6)
    "$pe" cudnn64_7.dll name=cudnn64_7.dll version=7301 resource=6.14.11.9999
    look 0 cudnn64_7.dll
    [ -z "$(findings)" ] || fail "the resource was taken for more than a hint"
    field cudnn64_7.dll version 7.3.1
    "$pe" hint/../cudnn64_8.dll name=cudnn64_8.dll resource=6.14.11.8907 2>/dev/null || "$pe" cudnn64_8.dll name=cudnn64_8.dll resource=6.14.11.8907
    look 1 cudnn64_8.dll
    field cudnn64_8.dll version 8.9.7
    field cudnn64_8.dll version_how "version resource (a hint)" ;;
T7 | T15 | T41)
    set9 lib 91801
    look 0 lib
    has no-development-link note "Runtime only" "ln -s"
    grep -q 'bare name libcudnn.so' out.json || fail "nothing is said of programs that open the bare name"
    has no-header note "Runtime only"
    look 1 --devel lib
    has no-development-link error
    has no-header error
    ln -s libcudnn.so.9 lib/libcudnn.so
    header include/cudnn_version.h 9 18 1
    echo '#include "cudnn_version.h"' >include/cudnn.h
    look 0 --devel . ;;
T8)
    # before 9.10: numbered names only, plain ones through alternatives; from 9.10 the package owns them
    for r in old new; do
        mkdir -p $r/etc/alternatives
        set9 $r/usr/lib/x86_64-linux-gnu 91000
    done
    ln -s /etc/alternatives/libcudnn_so old/usr/lib/x86_64-linux-gnu/libcudnn.so
    ln -s /usr/lib/x86_64-linux-gnu/libcudnn.so.9 old/etc/alternatives/libcudnn_so
    header old/usr/include/x86_64-linux-gnu/cudnn_version_v9.h 9 10 0
    ln -s libcudnn.so.9 new/usr/lib/x86_64-linux-gnu/libcudnn.so
    header new/usr/include/x86_64-linux-gnu/cudnn_version.h 9 10 0
    echo '#include "cudnn_version.h"' >new/usr/include/x86_64-linux-gnu/cudnn.h
    look 0 --root old /usr
    has alternatives-links note /etc/alternatives/libcudnn_so
    has only-numbered-headers note
    field /usr/lib/x86_64-linux-gnu/libcudnn.so version 9.10.0
    look 0 --root new /usr
    [ -z "$(findings)" ] || fail "the new layout is good" ;;
T9)
    mkdir -p root/usr/lib root/etc/alternatives outside
    ln -s /etc/alternatives/libcudnn_so root/usr/lib/libcudnn.so
    ln -s /usr/lib/removed.so root/etc/alternatives/libcudnn_so
    look 1 --root root /usr/lib
    has broken-link error "/usr/lib/libcudnn.so -> /etc/alternatives/libcudnn_so -> /usr/lib/removed.so (missing)"
    rm root/usr/lib/libcudnn.so
    # a link out of the root must not be followed out of it
    "$elf" outside/libcudnn.so.9 soname=libcudnn.so.9 version=90100
    ln -s "$dir/outside/libcudnn.so.9" root/usr/lib/libcudnn.so.9
    look 1 --root root /usr/lib/libcudnn.so.9
    has broken-link error
    field libcudnn.so.9 version null ;;
T10)
    mkdir lib
    "$elf" lib/libcudnn.so.5.1.10 soname=libcudnn.so.5 version=5110
    ln -s libcudnn.so.5.1.10 lib/libcudnn.so
    look 1 lib
    has no-soname-link error "links fine at build time" "there is no libcudnn.so.5" "ln -s" ;;
T11)
    set9 lib 90100
    "$elf" lib/libcudnn_ops.so.9 soname=libcudnn_ops.so.9 version=90100 machine=aarch64
    look 1 lib
    has machine-mismatch error libcudnn_ops.so.9 aarch64
    hasnt truncated
    field libcudnn_ops.so.9 arch aarch64
    field libcudnn_ops.so.9 version 9.1.0
    set9 cut 90100
    "$elf" cut/libcudnn_cnn.so.9 soname=libcudnn_cnn.so.9 version=90100 pad=100000 cut=50000
    look 1 cut
    has truncated error
    hasnt machine-mismatch ;;
T13)
    mkdir -p root/usr/lib/wsl/lib root/opt/lib
    for n in libcuda.so libcuda.so.1 libcuda.so.1.1; do
        "$elf" "root/usr/lib/wsl/lib/$n" soname=libcuda.so.1
        cp "root/usr/lib/wsl/lib/$n" root/opt/lib/
    done
    look 0 --root root /usr/lib/wsl/lib
    has wsl-driver-share note WSL
    hasnt copies-not-links
    findings | grep -q 'null$' || fail "a repair is offered"
    look 1 --root root /opt/lib
    has copies-not-links warning ;;
T18)
    set9 a 92000
    "$elf" a/libcudnn_graph.so.9 soname=libcudnn_graph.so.9 version=92000 text=libcudnn_engines_tensor_ir.so text=libcudnn_heuristic.so
    look 0 a # as the vendor publishes it
    has named-not-here note libcudnn_engines_tensor_ir.so.9
    hasnt incomplete mixed-versions
    set9 c 92000
    "$elf" c/libcudnn_graph.so.9 soname=libcudnn_graph.so.9 version=92000 text=libcudnn_engines_tensor_ir.so
    rm c/libcudnn_adv.so.9
    look 1 c
    has named-not-here warning libcudnn_engines_tensor_ir.so.9
    has incomplete error libcudnn_adv.so.9
    set9 d 91098 # no release: what it consists of is not known
    "$elf" d/libcudnn_graph.so.9 soname=libcudnn_graph.so.9 version=91098 text=libcudnn_other.so
    look 1 d
    has named-not-here warning libcudnn_other.so.9
    "$elf" a/libcudnn_engines_tensor_ir.so.9 soname=libcudnn_engines_tensor_ir.so.9 version=92200
    look 1 a
    has mixed-versions error 9.20.0 9.22.0 libcudnn_engines_tensor_ir.so.9
    hasnt named-not-here ;;
T36)
    "$pe" cudnn64_7.dll name=cudnn64_7.dll version=7600 import=cudart64_90.dll
    "$pe" cudart64_100.dll name=cudart64_100.dll
    look 1 cudnn64_7.dll
    has import-missing error cudart64_90.dll cudart64_100.dll ;;
T37)
    set9 lib 90100
    header include/cudnn_version.h 9 5 1
    look 1 .
    has header-mismatch error 9.5.1 9.1.0
    header include/cudnn_version.h 8 2 0
    look 1 .
    has header-mismatch error 8.2.0 9.1.0
    header include/cudnn_version.h 9 0 0
    look 1 .
    has header-mismatch warning
    header include/cudnn_version.h 9 1 1
    look 0 .
    has header-mismatch note ;;
T40)
    header 1/include/cudnn.h 7 6 5
    header 2/include/cudnn_version.h 8 9 7
    echo '#include "cudnn_version.h"' >2/include/cudnn.h
    header 3/include/cudnn_version_v9.h 9 1 0
    echo '#include "cudnn_version_v9.h"' >3/include/cudnn_v9.h
    mkdir -p 4/include 5/include
    echo '#include "cudnn_version.h"' >4/include/cudnn.h
    printf '#pragma once\r\n  #  define  CUDNN_MAJOR\t9\r\n#define CUDNN_MINOR   6 /* six */\r\n#define\tCUDNN_PATCHLEVEL 0\r\n' >5/include/cudnn_version.h
    printf '#include "cudnn_version.h"\r\n' >5/include/cudnn.h
    look 0 1
    field cudnn.h version 7.6.5
    look 0 2
    field cudnn_version.h version 8.9.7
    look 0 3
    field cudnn_version_v9.h version 9.1.0
    has only-numbered-headers note
    look 1 4
    has header-incomplete error "cudnn_version.h is missing"
    look 0 5
    field cudnn_version.h version 9.6.0 ;;
T42)
    for v in 9.0 9.9 9.10 9.13; do
        for cuda in 12.9 13.0; do
            minor=${v#9.}
            mkdir -p "v$v/bin/$cuda"
            for p in "" $parts9; do
                "$pe" "v$v/bin/$cuda/cudnn${p}64_9.dll" name="cudnn${p}64_9.dll" version=$((90000 + minor * 100))
            done
            touch "v$v/bin/$cuda/zlibwapi.dll"
            header "v$v/include/$cuda/cudnn_version.h" 9 "$minor" 0
        done
    done
    look 1 .
    hasnt header-mismatch mixed-versions incomplete
    grep -o 'v9[.0-9]*/bin/12.9/cudnn64_9.dll' out.json >order
    printf 'v9.%s/bin/12.9/cudnn64_9.dll\n' 0 9 10 13 | diff - order || fail "not sorted as versions" ;;
T43)
    # programs of the interfaces of 7, 8 and 9: each calls a function that the next one no longer has
    cc=$5 include=$6
    call() { printf '#include <cudnn.h>\nvoid *use(void) { return (void *)&%s; }\n' "$1" >"client$2.c"; }
    compile() { "$cc" -fsyntax-only -I "$include/v$1" "client$2.c" >log 2>&1; }
    call cudnnGetConvolutionForwardAlgorithm 7
    call cudnnSetRNNDescriptor_v6 8
    call cudnnGetLastErrorString 9
    call cudnnSetRNNDescriptor_v8 both
    for pair in 8:8 9:9 8:both 9:both; do
        compile "${pair%:*}" "${pair#*:}" || fail "client ${pair#*:} does not compile with the headers of ${pair%:*}: $(cat log)"
    done
    for pair in 8:7:cudnnGetConvolutionForwardAlgorithm 9:7:cudnnGetConvolutionForwardAlgorithm 9:8:cudnnSetRNNDescriptor_v6; do
        name=${pair##*:} pair=${pair%:*}
        compile "${pair%:*}" "${pair#*:}" && fail "client ${pair#*:} compiles with the headers of ${pair%:*}"
        grep -q "$name" log || fail "the compiler does not name $name: $(cat log)"
    done
    # the tool says which of them a library of each interface has
    for abi in 8:8907 9:91900; do
        "$elf" libcudnn.so.${abi%:*} soname=libcudnn.so.${abi%:*} version=${abi#*:} export=cudnnGetConvolutionForwardAlgorithm export=cudnnSetRNNDescriptor_v6
        look 1 --api libcudnn.so.${abi%:*}
        grep -q '"extra":.*"cudnnGetConvolutionForwardAlgorithm"' out.json || fail "${abi%:*} knows a function of 7"
        case $abi in
        8:*) grep -q '"real":.*"cudnnSetRNNDescriptor_v6"' out.json || fail "8 does not know its function" ;;
        9:*) grep -q '"extra":.*"cudnnSetRNNDescriptor_v6"' out.json || fail "9 knows a function of 8" ;;
        esac
        grep -q '"missing":.*"cudnnSetRNNDescriptor_v8"' out.json || fail "a function of 8 and 9 is not missed"
    done
    "$tool" advise --version 9.19.0 --op cudnnSetRNNDescriptor_v6 >text || true
    grep -q KI-095 text || fail "advise does not say that 9 took the function away" ;;
T44)
    set9 lib 92100 _engines_tensor_ir
    for p in $parts9; do
        printf '!<arch>\n' >"lib/libcudnn${p}_static_v9.a"
    done
    look 1 lib
    has static-libraries note libcudnn_graph_static_v9.a
    has static-incomplete warning libcudnn_engines_tensor_ir_static_v9.a
    printf '!<arch>\n' >lib/libcudnn_engines_tensor_ir_static_v9.a
    look 0 lib
    hasnt static-incomplete ;;
T48)
    for p in "" $parts8; do
        "$pe" "cudnn${p}64_8.dll" name="cudnn${p}64_8.dll" version=8400
    done
    look 1 .
    has no-zlibwapi warning zlibwapi.dll
    grep -q 'Error code 126' out.json || fail "the message that people see is not named"
    hasnt incomplete
    "$pe" zlibwapi.dll name=zlibwapi.dll
    look 0 .
    mkdir new
    for p in "" $parts9; do
        "$pe" "new/cudnn${p}64_9.dll" name="cudnn${p}64_9.dll" version=90200
    done
    look 0 new
    hasnt no-zlibwapi ;;
T49)
    for p in "" $parts8; do
        "$pe" "cudnn${p}64_8.dll" name="cudnn${p}64_8.dll" version=8907
    done
    "$pe" zlibwapi.dll name=zlibwapi.dll machine=x86
    look 1 .
    has machine-mismatch error zlibwapi.dll "x86 (32-bit)"
    field zlibwapi.dll bits 32 ;;
T50)
    "$pe" cudnn_ops64_9.dll name=cudnn_ops64_9.dll version=90600
    look 1 cudnn_ops64_9.dll
    has incomplete error "9.6.0" cudnn64_9.dll cudnn_graph64_9.dll cudnn_heuristic64_9.dll
    findings | grep -q 'tensor_ir' && fail "9.6 has no tensor_ir"
    true ;;
T51)
    for p in "" $parts9; do
        "$pe" "cudnn${p}64_9.dll" name="cudnn${p}64_9.dll" version=92500
    done
    look 1 .
    has incomplete error "missing cudnn_engines_tensor_ir64_9.dll, cudnn_ext64_9.dll"
    "$pe" cudnn_engines_tensor_ir64_9.dll name=cudnn_engines_tensor_ir64_9.dll version=92500
    "$pe" cudnn_ext64_9.dll name=cudnn_ext64_9.dll version=92500
    look 0 . ;;
mess)
    # what else people keep under a library's name
    set8 lib 8907 8.9.7
    rm lib/libcudnn_cnn_train.so.8.9.7
    printf '\n<!DOCTYPE html><html>login</html>' >lib/libcudnn_cnn_train.so.8.9.7
    look 1 lib/libcudnn_cnn_train.so.8.9.7
    has html-page error "web page"
    printf 'version https://git-lfs.github.com/spec/v1\n' >lib/libcudnn_cnn_train.so.8.9.7
    look 1 lib/libcudnn_cnn_train.so.8.9.7
    has lfs-pointer error
    : >lib/libcudnn_cnn_train.so.8.9.7
    look 1 lib/libcudnn_cnn_train.so.8.9.7
    has empty-file error
    "$elf" lib/libcudnn_cnn_train.so.8.9.7 soname=libcudnn_cnn_train.so.8 machine=x86
    look 1 lib/libcudnn_cnn_train.so.8.9.7
    has 32-bit error
    "$elf" lib/libcudnn_cnn_train.so.8.9.7 soname=libcudnn_cnn_train.so.8 version=8204
    look 1 lib
    has mixed-versions error 8.2.4 8.9.7
    has name-version-differs warning
    rm lib/libcudnn_cnn_train.so*
    look 1 lib
    has incomplete error libcudnn_cnn_train.so.8 ;;
archive)
    # members that lead out, and an archive that was cut off
    mkdir in
    set9 in/lib 90100
    ln -s ../../../etc/passwd in/lib/libcudnn_evil.so
    tar czf a.tgz in
    look 1 a.tgz
    has unsafe-member error "../../../etc/passwd"
    hasnt incomplete
    field in/lib/libcudnn_ops.so.9 version 9.1.0
    head -c $(($(wc -c <a.tgz) / 2)) a.tgz >cut.tgz
    look 1 cut.tgz
    has truncated-archive error
    tar cf b.tar in
    cp b.tar cudnn-linux-x86_64-8.9.7.29_cuda11-archive.tar.xz
    look 1 cudnn-linux-x86_64-8.9.7.29_cuda11-archive.tar.xz
    has archive-size error a3e2509028cecda0117ce5a0f42106346e82e86d390f4bb9475afc976c77402e ;;
api)
    "$elf" libcudnn.so.8 soname=libcudnn.so.8 version=8907 export=cudnnCreate export=cudnnNobodyKnows export=cudnn_internal
    look 1 --api libcudnn.so.8
    grep -q '"extra":.*\["cudnnNobodyKnows"\]' out.json || fail "extra names"
    grep -q '"real":.*\["cudnnGetVersion", "cudnnCreate"\]' out.json || fail "real names"
    grep -q '"missing":.*"cudnnSetRNNDescriptor_v6"' out.json || fail "8.9.7 has cudnnSetRNNDescriptor_v6"
    "$elf" libcudnn.so.9 soname=libcudnn.so.9 version=90100
    look 1 --api libcudnn.so.9
    grep -q 'cudnnSetRNNDescriptor_v6' out.json && fail "9 has no cudnnSetRNNDescriptor_v6"
    true ;;
usage)
    code=0
    "$tool" inspect >/dev/null 2>&1 || code=$?
    [ $code = 2 ] || fail "no argument gives $code"
    code=0
    "$tool" inspect nowhere >/dev/null 2>&1 || code=$?
    [ $code = 3 ] || fail "a missing file gives $code"
    "$elf" 'odd
name.so' soname=libcudnn.so.8 version=8907
    "$tool" inspect 'odd
name.so' >text || true
    grep -q '^name' text && fail "a line break of a name reached the terminal"
    printf 'x' >"$(printf 'libcudnn.so.9\377')" 2>/dev/null || exit 0
    "$tool" inspect --json "$(printf 'libcudnn.so.9\377')" >out.json || true
    grep -q "$(printf '\377')" out.json && fail "the JSON is not UTF-8"
    true ;;
*) fail "there is no such case" ;;
esac
echo "$case: good"
