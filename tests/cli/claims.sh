#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Claims in circulation that are wrong (docs/claims.md): the tool must know better. claims.sh ANYDNN MKELF MKPE CLAIM...
# Each case fails where the tool believes the claim.
. "$(dirname "$0")/check_common.sh"
shift 3

# ask CODE ARGUMENT...: any command; its output is in $work/out
ask() {
    wanted=$1
    shift
    code=0
    "$anydnn" "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted: $*"
}
says_not() { ! grep -qE -- "$1" "$work/out" || fail "it says: $1"; }
# cells TABLE 'CONDITION' COLUMN: the column of the rows for which the awk condition on c["column"] holds, each value once, sorted
cells() {
    "$anydnn" facts "$1" | awk -F'\t' "NR == 1 { for (i = 1; i <= NF; i++) name[i] = \$i; next }
        { for (i = 1; i <= NF; i++) c[name[i]] = \$i } $2 { print c[\"$3\"] }" | sort -u | tr '\n' ' '
}
same() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}
# of FILE MEMBER: in the answer of inspect for the file whose path ends so
of() {
    awk -F'\t' -v end="$1\"," -v name="\"$2\":" '/"path":/ { mine = substr($NF, length($NF) - length(end) + 1) == end }
        mine && $(NF - 1) == name { v = $NF; sub(/,$/, "", v); gsub(/"/, "", v); print v; exit }' "$work/out"
}
dlls() { # DIR VERSION PARTS: with zlibwapi.dll
    mkdir -p "$root$1"
    d_major=${2%%.*}
    for d_part in '' $3; do
        "$mkpe" "$root$1/cudnn${d_part}64_$d_major.dll" name="cudnn${d_part}64_$d_major.dll" version="$(number "$2")"
    done
    "$mkpe" "$root$1/zlibwapi.dll" name=zlibwapi.dll
}
driver() { # VERSION
    mkdir -p "$root/proc/driver/nvidia"
    echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $1  Mon Jan  1 00:00:00 UTC 2024" >"$root/proc/driver/nvidia/version"
}
toolkit() { # VERSION
    mkdir -p "$root/usr/local/cuda-${1%.*}/bin"
    printf '{"cuda":{"version":"%s"}}\n' "$1" >"$root/usr/local/cuda-${1%.*}/version.json"
}
site=/usr/lib/python3.11/site-packages
winsite=/Users/u/AppData/Local/Programs/Python/Python311/Lib/site-packages
framework() { # NAME VERSION: no METADATA line on cuDNN
    distribution $site "$1" "$2"
}

claim() {
machine "$1"
case $1 in
V1) # 8.9.7 ends the line of 8.x; 9.10 exists
    ask 2 advise --version 8.10
    ask 2 check --root "$root" --require 8.10.0
    ask 2 check --root "$root" --require 'cudnn>=8.10'
    header /usr/include/cudnn_version.h 8.10.0
    ask 0 inspect --json "$root/usr/include/cudnn_version.h"
    same "version of a header with 8.10.0" "$(of cudnn_version.h version)" null
    same "8.x behind 8.9.7" "$(cells cudnn_releases 'c["cudnnGetVersion"] > 8907 && c["cudnnGetVersion"] < 90000' version)" ""
    same "9.10" "$(cells cudnn_releases 'c["version"] == "9.10.0"' cudnnGetVersion)" "91000 "
    copy_of 9.0.0 /usr/lib64
    check --require 'cudnn>8.9.7'
    finds_not requirement-not-met ;;
V2) # PyTorch 1.12 and 1.13 come with 8.3.2 and 8.5.0
    same "PyTorch with 8.9.7" "$(cells frameworks 'c["framework"] == "PyTorch" && c["cudnn"] ~ /^8\.9\.7/' version)" ""
    same "PyTorch 1.13, CUDA 11.7" "$(cells frameworks 'c["version"] == "1.13" && c["cuda"] == "11.7"' cudnn)" "8.5.0.96 "
    framework torch 1.13.1+cu117
    check
    says '"needs":	"8.5.0.96"'
    machine "V2 1.12"
    framework torch 1.12.1+cu113
    check
    says '"needs":	"8.3.2.44"' ;;
V3) # TensorFlow 2.10 and 2.11: tested with 8.1, and none in the wheel
    for v in 2.10.1 2.11.0; do
        machine "V3 $v"
        framework tensorflow $v
        check
        says '"needs":	"8.1"'
        ask 3 advise --root "$root" --framework tensorflow-$v
    done
    ask 1 advise --framework tensorflow-2.11 --version 8.1.0
    says 'TensorFlow 2.11 for CUDA 11.2 (Linux) requires (not shipped) cuDNN 8.1' ;;
V4) # 8.9.7 is of December 2023, so no image of 2022 can have it
    same "date of 8.9.7" "$(cells cudnn_releases 'c["version"] == "8.9.7"' release_date)" "2023-12-05 " ;;
V5) # four packages for each CUDA
    for cuda in cuda11 cuda12; do
        same "$cuda" "$(cells cudnn_archives "c[\"build\"] == \"8.9.7.29\" && c[\"cuda\"] == \"$cuda\"" platform)" "linux-ppc64le linux-sbsa linux-x86_64 windows-x86_64 "
    done ;;
V6 | V10) # the names are ..._cuda11-archive, with x86_64
    name='/^cudnn-(linux|windows)-(x86_64|sbsa|aarch64|ppc64le|arm64)-[0-9.]+_cuda1[0-9]-archive\.(tar\.xz|zip)$/'
    same "names of other kinds" "$(cells cudnn_archives "c[\"file\"] !~ $name && c[\"component\"] == \"cudnn\"" file)" ""
    same "8.8.0 for Windows" "$(cells cudnn_archives 'c["build"] == "8.8.0.121" && c["platform"] == "windows-x86_64" && c["cuda"] == "cuda11"' file)" \
        "cudnn-windows-x86_64-8.8.0.121_cuda11-archive.zip "
    same "its size" "$(cells cudnn_archives 'c["build"] == "8.8.0.121" && c["platform"] == "windows-x86_64" && c["cuda"] == "cuda11"' bytes)" "699730750 " ;;
V7) # a SHA-256 has 64 digits
    same "checksum" "$(cells cudnn_archives 'c["file"] == "cudnn-linux-x86_64-8.9.7.29_cuda11-archive.tar.xz"' sha256)" \
        "a3e2509028cecda0117ce5a0f42106346e82e86d390f4bb9475afc976c77402e "
    same "others" "$(cells cudnn_archives 'length(c["sha256"]) != 64' file)" "" ;;
V8 | V11 | V17) # 7 DLLs in bin, 14 import libraries in lib\x64, 9 headers: a whole package; .lib files are no static libraries
    dlls /p/bin 8.9.7 "$parts8"
    mkdir -p "$root/p/lib/x64"
    for part in '' $parts8; do
        printf '!<arch>\n' >"$root/p/lib/x64/cudnn$part.lib"
        printf '!<arch>\n' >"$root/p/lib/x64/cudnn${part}64_8.lib"
        [ -z "$part" ] || { mkdir -p "$root/p/include" && echo '#include "cudnn_version.h"' >"$root/p/include/cudnn$part.h"; }
    done
    header /p/include/cudnn_version.h 8.9.7
    for h in cudnn cudnn_backend; do echo '#include "cudnn_version.h"' >"$root/p/include/$h.h"; done
    same "headers" "$(find "$root/p/include" -name '*.h' | wc -l | tr -d ' ')" 9
    ask 0 inspect --json "$root/p"
    same "DLLs" "$(grep -c '"kind":	"pe"' "$work/out")" 8
    same "cudnn.lib" "$(of cudnn.lib kind)" static
    for id in incomplete static-libraries static-incomplete header-mismatch; do finds_not $id; done
    (cd "$root" && tar czf p.tgz p)
    ask 0 inspect --json "$root/p.tgz"
    finds_not incomplete
    rm "$root/p/bin/cudnn_cnn_train64_8.dll"
    ask 1 inspect --json "$root/p"
    finds incomplete cudnn_cnn_train64_8.dll
    machine "V11 from 9.18 on the DLLs are in bin/x64"
    dlls "/Program Files/NVIDIA/CUDNN/v9.18/bin/x64" 9.18.0 "$parts9"
    header "/Program Files/NVIDIA/CUDNN/v9.18/include/cudnn_version.h" 9.18.0
    check
    is_code 0
    says '"path":	"/Program Files/NVIDIA/CUDNN/v9.18/include/cudnn_version.h"'
    says '"complete":	true' ;;
V9) # cudnn.h and libcudnn.so* alone are no install
    copy_of 8.9.7 /p/lib
    find "$root/p/lib" -name 'libcudnn_*' -exec rm {} +
    header /p/include/cudnn.h 8.9.7
    ask 1 inspect --json "$root/p"
    for part in $parts8; do finds incomplete "libcudnn$part.so.8"; done ;;
V12 | V13) # the 8 of cudnn64_8.dll and the numbers of the PE header say nothing of CUDA; what it imports does
    "$mkpe" "$root/cudnn64_8.dll" name=cudnn64_8.dll version=8907
    printf '\013\014' | dd of="$root/cudnn64_8.dll" bs=1 seek=90 conv=notrunc 2>/dev/null # linker 11.12
    printf '\013\000\014\000\013\000\014\000' | dd of="$root/cudnn64_8.dll" bs=1 seek=128 conv=notrunc 2>/dev/null # system and image
    ask 1 inspect --json "$root/cudnn64_8.dll"
    same "CUDA without imports" "$(of cudnn64_8.dll cuda)" null
    same "ABI" "$(of cudnn64_8.dll abi)" 8
    for cuda in 11 12; do
        "$mkpe" "$root/cudnn64_8.dll" name=cudnn64_8.dll version=8907 import=cublasLt64_$cuda.dll
        ask 1 inspect --json "$root/cudnn64_8.dll"
        same "CUDA by cublasLt64_$cuda.dll" "$(of cudnn64_8.dll cuda)" $cuda
    done ;;
V14 | D1) # 8.8.0 for CUDA 11 runs with toolkits 11.0 - 11.8, on drivers from 450.80.02
    for cuda in 11.0.3 11.2.2 11.7.1 11.8.0; do
        machine "V14 $cuda"
        copy_of 8.8.0 /usr/lib64 text=libcublasLt.so.11
        toolkit $cuda
        driver 450.80.02
        check
        is_code 0
        says '"cuda":	11'
    done
    driver 450.51.06
    check
    finds driver-too-old "450.80.02 or later"
    same "Windows" "$(cells cudnn_releases 'c["version"] == "8.8.0" && c["cuda"] == "11"' min_driver_windows)" ">=452.39 " ;;
V15 | V16) # 8.2.2 was published once, for 10.2 and 11.4; no 8.2.3
    same "builds" "$(cells cudnn_releases 'c["version"] ~ /^8\.2\./' build)" "8.2.0.53 8.2.1.32 8.2.2.26 8.2.4.15 "
    same "CUDA of 8.2.2" "$(cells cudnn_releases 'c["version"] == "8.2.2"' cuda)" "10.2 11.4 "
    copy_of 8.2.2 /usr/lib64 text=libcublasLt.so.11
    toolkit 11.0.3
    driver 450.80.02
    check
    is_code 0 ;;
V18 | P3) # 8.x by thousands, 9.x by ten thousands
    for v in 8.2.2 8.8.0 8.9.7 9.1.0 9.10.2; do
        "$mkelf" "$root/libcudnn.so.${v%%.*}" soname="libcudnn.so.${v%%.*}" version="$(number $v)"
        code=0
        "$anydnn" inspect --json "$root/libcudnn.so.${v%%.*}" >"$work/out" || code=$?
        same "$(number $v)" "$(of "libcudnn.so.${v%%.*}" version)" $v
        same "$v" "$(of "libcudnn.so.${v%%.*}" version_number)" "$(number $v)"
    done
    ask 1 advise --json --version 8907
    says '"version":	"8.9.7"'
    ask 1 advise --json --version 90100
    says '"version":	"9.1.0"' ;;
V19) # PyTorch never came for CUDA 11.4
    same "PyTorch for CUDA 11.4" "$(cells frameworks 'c["framework"] == "PyTorch" && c["cuda"] == "11.4"' version)" ""
    same "PyTorch 1.10.0" "$(cells frameworks 'c["framework"] == "PyTorch" && c["version"] == "1.10.0"' cuda)" "10.2 11.1 11.3 " ;;
V20 | V21) # TensorFlow 2.5 - 2.11: 8.1 and 11.2; a newer minor of the same major fits, an older one does not
    same "cuDNN" "$(cells frameworks 'c["framework"] == "TensorFlow" && c["version"] ~ /^2\.([5-9]|10|11)$/' cudnn)" "8.1 "
    for v in 2.6.0 2.7.4; do
        machine "V20 $v"
        framework tensorflow $v
        copy_of 8.2.4 /usr/lib64
        check
        is_code 0
        says '"gets_version":	"8.2.4"'
    done
    machine "V20 older"
    framework tensorflow 2.8.0
    copy_of 8.0.5 /usr/lib64
    check
    finds framework-cudnn-too-old "TensorFlow 2.8.0 was built for cuDNN 8.1 (frameworks.tsv) and gets 8.0.5" ;;
V22) # a CUDA toolkit brings no cuDNN
    toolkit 11.8.0
    mkdir -p "$root/usr/local/cuda-11.8/lib64"
    "$mkelf" "$root/usr/local/cuda-11.8/lib64/libcublas.so.11" soname=libcublas.so.11
    check
    is_code 0
    says '"copies":	[]'
    check --require 8
    finds requirement-not-met "found none" ;;
V23) # the wheels hold whole libraries, without the bare name; the Windows ones have DLLs
    copy_of 8.9.7 $site/nvidia/cudnn/lib
    find "$root$site" -name '*.so' -exec rm {} +
    distribution $site nvidia-cudnn-cu12 8.9.7.29 nvidia/cudnn/lib/libcudnn.so.8
    dlls $winsite/nvidia/cudnn/bin 9.1.0 "$parts9"
    check
    is_code 0
    same "whole copies in wheels" "$(grep -c '"found_by":	"wheel"' "$work/out") $(grep -c '"complete":	true' "$work/out")" "2 2"
    finds no-development-link ;;
V24) # libcudnn8 is the vendor's package, with the headers in libcudnn8-dev
    copy_of 8.9.7 /usr/lib64
    mkdir -p "$root/var/lib/dpkg/info"
    printf 'Package: libcudnn8\nStatus: install ok installed\nVersion: 8.9.7.29-1+cuda12.2\n\n' >"$root/var/lib/dpkg/status"
    (cd "$root" && find usr/lib64 -name 'libcudnn*' | sed 's,^,/,') >"$root/var/lib/dpkg/info/libcudnn8.list"
    check
    is_code 0
    says '"package":	"libcudnn8"'
    finds_not nvidia-cudnn-package
    finds no-header libcudnn8-dev ;;
V25) # every project has a FindCUDNN of its own: all the names that they ask for are set
    ask 0 env --prefix /opt/x cmake
    for name in CMAKE_PREFIX_PATH CUDNN_ROOT CUDNN_ROOT_DIR CUDNN_INCLUDE_DIR CUDNN_LIBRARY; do says "$name"; done ;;
V26) # the runtime of all CUDA 11 is cudart64_110.dll
    for pair in 110:11 12:12 102:10; do
        "$mkpe" "$root/cudnn64_8.dll" name=cudnn64_8.dll version=8907 import="cudart64_${pair%:*}.dll"
        ask 1 inspect --json "$root/cudnn64_8.dll"
        same "CUDA by cudart64_${pair%:*}.dll" "$(of cudnn64_8.dll cuda)" "${pair#*:}"
    done ;;
V27) # the installer's PATH entry stops one folder above the DLLs
    dlls "/C/Program Files/NVIDIA/CUDNN/v9.13/bin/12.9" 9.13.0 "$parts9"
    ask 1 which --json --root "$root" --windows-path 'C:\Program Files\NVIDIA\CUDNN\v9.13\bin' --needs cudnn64_9.dll
    says '"loaded":	null'
    ask 0 which --json --root "$root" --windows-path 'C:\Program Files\NVIDIA\CUDNN\v9.13\bin\12.9' --needs cudnn64_9.dll
    says '"rule":	"path"' ;;
V28) # seven names in 8.x, eight from 9.0, nine from 9.21, ten from 9.24
    for set in 8.9.7:6 9.0.0:7 9.20.0:7 9.21.0:8 9.23.2:8 9.24.0:9; do
        machine "V28 ${set%:*}"
        copy_of "${set%:*}" /p/lib
        same "parts of ${set%:*}" "$(find "$root/p/lib" -type f -name 'libcudnn_*' | wc -l | tr -d ' ')" "${set#*:}"
        ask 0 inspect --json "$root/p/lib"
        last=$(find "$root/p/lib" -type f -name 'libcudnn_e*' -o -type f -name 'libcudnn_adv_t*' | sort | tail -1)
        last=${last##*/}
        rm "$root/p/lib/${last%%.*}".so*
        ask 1 inspect --json "$root/p/lib"
        finds incomplete "${last%%.*}.so"
    done ;;
V29) # libz is needed when it is loaded; the wheels for CUDA 12 and 13 own the same files
    "$mkelf" "$root/usr/lib64/libcudnn.so.8" soname=libcudnn.so.8 version=8907 needed=libz.so.1
    ask 1 which --json --root "$root" --needs libcudnn.so.8
    finds not-found libz.so.1
    machine "V29 two wheels"
    copy_of 9.13.0 $site/nvidia/cudnn/lib 'runpath=$ORIGIN'
    distribution $site nvidia-cudnn-cu12 9.13.0.50 nvidia/cudnn/lib/libcudnn.so.9 nvidia/cudnn/lib/libcudnn.so.9.13.0
    check
    finds_not two-owners
    distribution $site nvidia-cudnn-cu13 9.12.0.46 nvidia/cudnn/lib/libcudnn.so.9 nvidia/cudnn/lib/libcudnn.so.9.13.0
    check
    is_code 1
    finds two-owners "nvidia-cudnn-cu12 9.13.0.50 (wheel)"
    finds two-owners "nvidia-cudnn-cu13 9.12.0.46 (wheel)"
    finds two-owners "pip uninstall" ;;
P6) # cudnnFindConvolutionForwardAlgorithm is in 8 and in 9
    for abi in 8:8907 9:91900; do
        "$mkelf" "$root/libcudnn.so.${abi%:*}" soname="libcudnn.so.${abi%:*}" version="${abi#*:}" export=cudnnFindConvolutionForwardAlgorithm
        ask 1 inspect --json --api "$root/libcudnn.so.${abi%:*}"
        grep '"real":' "$work/out" | grep -q cudnnFindConvolutionForwardAlgorithm || fail "not real in ${abi%:*}"
    done ;;
P7 | L16) # a cudnn64_7.dll earlier on PATH is passed by: the loader goes by the whole name
    mkdir -p "$root/C/old" "$root/C/new"
    "$mkpe" "$root/C/old/cudnn64_7.dll" name=cudnn64_7.dll version=7605
    ask 1 which --json --root "$root" --windows-path 'C:\old;C:\new' --needs cudnn64_8.dll
    says '"loaded":	null'
    "$mkpe" "$root/C/new/cudnn64_8.dll" name=cudnn64_8.dll version=8907
    ask 0 which --json --root "$root" --windows-path 'C:\old;C:\new' --needs cudnn64_8.dll
    says '"loaded":	"C:\\new\\cudnn64_8.dll"'
    says_not '"shadowed":.*cudnn64_7' ;;
P9) # the status numbers changed with 9
    ask 1 advise --json --version 9.1.0
    says '"KI-096"'
    ask 1 advise --json --version 8.9.7
    says_not '"KI-096"' ;;
P12 | P13 | P14) # defects that nobody ever showed are not told
    ask 1 advise --json --version 8.9.7
    says_not 'stride\[0\]|NCCL|SyncBatchNorm'
    says_not '"fixed_in":	"8\.10'
    ask 1 advise --json --version 8.8.0
    says_not 'odd H|batch 1 and odd' ;;
P15 | P19) # switches that do not exist are never proposed
    for table in '' known-issues; do
        # shellcheck disable=SC2086
        ask 0 facts $table
        says_not 'CUDNN_ENABLE_LOGGING|cudnn_disable_autotune'
    done
    ask 0 env
    says_not 'CUDNN_ENABLE_LOGGING|cudnn_disable_autotune' ;;
L1) # RPATH, variable, RUNPATH, cache, default: the winner's removal shows the next; RPATH only without RUNPATH
    for dir in /rp /var /run /usr/lib64; do
        mkdir -p "$root$dir"
        "$mkelf" "$root$dir/libcudnn.so.8" soname=libcudnn.so.8
    done
    "$mkelf" "$root/rpath" soname=x needed=libcudnn.so.8 rpath=/rp
    "$mkelf" "$root/runpath" soname=x needed=libcudnn.so.8 runpath=/run
    "$mkelf" "$root/both" soname=x needed=libcudnn.so.8 rpath=/rp runpath=/run
    for step in rpath:/rp:rpath runpath:/var:LD_LIBRARY_PATH both:/var:LD_LIBRARY_PATH; do
        ask 0 which --json --root "$root" --env LD_LIBRARY_PATH=/var --exe "/${step%%:*}" --needs libcudnn.so.8
        says "\"loaded\":	\"$(echo "$step" | cut -d: -f2)/libcudnn.so.8\""
        says "\"rule\":	\"${step##*:}\""
    done
    rm "$root/var/libcudnn.so.8"
    ask 0 which --json --root "$root" --env LD_LIBRARY_PATH=/var --exe /both --needs libcudnn.so.8
    says '"loaded":	"/run/libcudnn.so.8"'
    rm "$root/run/libcudnn.so.8"
    ask 0 which --json --root "$root" --env LD_LIBRARY_PATH=/var --exe /both --needs libcudnn.so.8
    says '"rule":	"default"' ;;
L3 | L11) # wheels bring their own, with no cache at all; a system copy changes nothing
    distribution $site torch 1.13.1+cu117
    copy_of 8.5.0 $site/torch/lib 'runpath=$ORIGIN'
    "$mkelf" "$root$site/torch/lib/libtorch_cuda.so" soname=libtorch_cuda.so needed=libcudnn.so.8 'runpath=$ORIGIN'
    check
    says '"gets_version":	"8.5.0"'
    finds_not framework-no-cudnn
    copy_of 8.9.7 /usr/lib64
    copy_of 8.9.7 /usr/local/cuda/lib64
    check
    says '"gets_version":	"8.5.0"'
    says "\"gets\":	\"$site/torch/lib/libcudnn.so.8\"" ;;
L2) # bundled with RUNPATH: the variable wins; from nvidia wheels with RPATH: the own copy wins, parts opened later follow the variable
    distribution $site torch 2.0.1+cu118
    copy_of 8.7.0 $site/torch/lib 'runpath=$ORIGIN'
    copy_of 8.2.4 /usr/local/cuda-11.8/lib64
    "$mkelf" "$root$site/torch/lib/libtorch_cuda.so" soname=libtorch_cuda.so needed=libcudnn.so.8 'runpath=$ORIGIN'
    check --env LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64
    says '"gets_version":	"8.2.4"'
    finds framework-cudnn-too-old "gets 8.2.4"
    check
    says '"gets_version":	"8.7.0"'
    machine "L2 RPATH"
    distribution $site torch 2.2.0+cu121
    copy_of 8.9.2 $site/nvidia/cudnn/lib 'runpath=$ORIGIN'
    copy_of 8.2.4 /usr/local/cuda-11.8/lib64
    mkdir -p "$root$site/torch/lib"
    "$mkelf" "$root$site/torch/lib/libtorch_cuda.so" soname=libtorch_cuda.so needed=libcudnn.so.8 'rpath=$ORIGIN/../../nvidia/cudnn/lib'
    check --env LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64
    says '"gets_version":	"8.9.2"'
    finds mixed-load "libcudnn_ops_infer.so.8 8.2.4" ;;
L4) # the SONAME link leads to the newest, so a newer leftover wins
    copy_of 8.9.2 /usr/lib64
    library /usr/lib64 '' 8.9.7
    check
    finds mixed-versions 8.9.7 ;;
L5 | L6) # cp without -P follows links: three files; one line for each SONAME, so no second copy
    copy_of 8.9.7 /usr/lib64
    for f in "$root"/usr/lib64/*.so "$root"/usr/lib64/*.so.8; do cp --remove-destination "$(readlink -f "$f")" "$f"; done
    check
    finds copies-not-links "cp without -P or -a"
    finds_not duplicate
    finds_not shadowed-copies
    same "copies" "$(grep -c '"found_by":' "$work/out")" 1
    ask 0 which --json --root "$root" --needs libcudnn.so.8
    says '"shadowed":	[]' ;;
L7 | L8 | L9) # python links no cuDNN: the framework's library does, by NEEDED, and that one is asked
    mkdir -p "$root/usr/bin" "$root$site/torch/lib"
    "$mkelf" "$root/usr/bin/python3.11" soname=python3.11
    "$mkelf" "$root$site/torch/lib/libtorch_cuda.so" soname=libtorch_cuda.so needed=libcudnn.so.8 'rpath=$ORIGIN/../../nvidia/cudnn/lib'
    copy_of 8.9.2 $site/nvidia/cudnn/lib
    copy_of 8.9.7 /usr/lib64 # what a search by name alone would find
    ask 0 which --json --root "$root" --exe /usr/bin/python3.11 --by $site/torch/lib/libtorch_cuda.so --needs libcudnn.so.8
    says "\"loaded\":	\"$site/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.8\""
    says "\"by\":	\"$site/torch/lib/libtorch_cuda.so\"" ;;
L12) # the program's folder and the system's come before PATH, and flags leave PATH out
    mkdir -p "$root/C/app" "$root/C/p"
    for dir in app p; do "$mkpe" "$root/C/$dir/cudnn64_8.dll" name=cudnn64_8.dll; done
    ask 0 which --json --root "$root" --windows-path 'C:\p' --exe 'C:\app\a.exe' --needs cudnn64_8.dll
    says '"rule":	"application"'
    ask 1 which --json --root "$root" --windows-path 'C:\p' --exe 'C:\x\a.exe' --flags 0x1000 --needs cudnn64_8.dll
    says '"loaded":	null' ;;
L13) # PATH is not searched for Python's extension modules
    mkdir -p "$root/C/cudnn/bin"
    "$mkpe" "$root/C/cudnn/bin/cudnn64_8.dll" name=cudnn64_8.dll
    ask 1 which --json --root "$root" --windows-path 'C:\cudnn\bin' --exe 'C:\py\python.exe' --by 'C:\py\m.pyd' --flags 0x1100 --needs cudnn64_8.dll
    finds not-found os.add_dll_directory ;;
L14 | L15) # PyTorch for Windows takes the copy in torch\lib, whatever PATH and the CUDA folder have
    distribution $winsite torch 1.13.1+cu117
    dlls $winsite/torch/lib 8.5.0 "$parts8"
    "$mkpe" "$root$winsite/torch/lib/torch_cuda.dll" name=torch_cuda.dll import=cudnn64_8.dll
    dlls "/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin" 8.9.7 "$parts8"
    check --env 'PATH=/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin'
    says '"gets_version":	"8.5.0"' ;;
L17) # a copy in CUDA's own folders is no error, and stays of no package
    toolkit 11.8.0
    copy_of 8.9.7 /usr/local/cuda-11.8/lib64
    header /usr/local/cuda-11.8/include/cudnn_version.h 8.9.7
    echo '#include "cudnn_version.h"' >"$root/usr/local/cuda-11.8/include/cudnn.h"
    touch "$root/usr/local/cuda-11.8/include/cuda.h"
    check
    is_code 0
    says '"owner":	null' ;;
L18) # a missing runtime DLL is a load error that names it; 8.3.0 - 9.1 need zlibwapi.dll
    mkdir -p "$root/C/p" "$root/C/Windows/System32"
    "$mkpe" "$root/C/p/cudnn64_8.dll" name=cudnn64_8.dll version=8800 import=vcruntime140_1.dll
    ask 1 which --json --root "$root" --windows-path 'C:\p' --needs cudnn64_8.dll
    finds missing-import "vcruntime140_1.dll"
    finds missing-import "error 126"
    "$mkpe" "$root/C/Windows/System32/VCRUNTIME140_1.dll" name=VCRUNTIME140_1.dll
    ask 0 which --json --root "$root" --windows-path 'C:\p' --needs cudnn64_8.dll
    for v in 8.2.4:no 8.3.0:yes 9.1.0:yes 9.2.0:no; do
        machine "L18 ${v%:*}"
        case $v in 8*) dlls /p "${v%:*}" "$parts8" ;; *) dlls /p "${v%:*}" "$parts9" ;; esac
        rm "$root/p/zlibwapi.dll"
        code=0
        "$anydnn" inspect --json "$root/p" >"$work/out" || code=$?
        if [ "${v#*:}" = yes ]; then finds no-zlibwapi zlibwapi.dll; else finds_not no-zlibwapi; fi
    done ;;
L20) # the machine field: 0x8664, 0xaa64, 0x14c
    for machine_name in x86-64:64 aarch64:64 x86:32; do
        "$mkpe" "$root/cudnn64_8.dll" name=cudnn64_8.dll version=8907 machine="${machine_name%:*}"
        code=0
        "$anydnn" inspect --json "$root/cudnn64_8.dll" >"$work/out" || code=$?
        same "$machine_name" "$(of cudnn64_8.dll arch):$(of cudnn64_8.dll bits)" "$machine_name"
    done ;;
L21 | L22) # only the user's own value is kept, older entries go as whole elements, the new one comes first
    ask 0 env --prefix 'C:\cudnn' powershell
    says "[Environment]::GetEnvironmentVariable('PATH', 'User')"
    says '(@($bin) + ($user -split '
    says '$_ -and $_ -ne $bin'
    says_not "-replace|SetEnvironmentVariable\('PATH', *.env:PATH" ;;
L23) # a file in use is never written over: a repaired name is another inode, the old one stays whole for who has it open
    copy_of 8.9.7 /usr/lib64
    cp --remove-destination "$root/usr/lib64/libcudnn.so.8.9.7" "$root/usr/lib64/libcudnn.so.8"
    exec 9<"$root/usr/lib64/libcudnn.so.8"
    check --fix
    [ -L "$root/usr/lib64/libcudnn.so.8" ] || fail "not mended"
    cmp -s - "$root/usr/lib64/libcudnn.so.8.9.7" <&9 || fail "the file in use was changed"
    exec 9<&- ;;
L24) # what the DLL does not import is not asked for
    mkdir -p "$root/C/p"
    "$mkpe" "$root/C/p/cudnn64_8.dll" name=cudnn64_8.dll version=8202
    ask 0 which --json --root "$root" --windows-path 'C:\p' --needs cudnn64_8.dll
    says_not cudart64 ;;
D2 | D3) # 472.50 is of CUDA 11.4, 496 of 11.5; 11.4.0 came with 471.11
    same "472.50" "$(cells cuda_drivers 'c["toolkit_driver_windows"] == "472.50"' cuda)" "11.4 Update 3 11.4 Update 4 "
    same "11.5" "$(cells cuda_drivers 'c["cuda"] == "11.5"' toolkit_driver_windows)" "496.04 "
    same "11.4" "$(cells cuda_drivers 'c["cuda"] == "11.4"' toolkit_driver_windows)" "471.11 "
    same "floor of 11.x" "$(cells cuda_drivers 'c["cuda"] ~ /^11\./' min_driver_windows_minor_compat)" "452.39 " ;;
D4) # an old driver is "driver version is insufficient"; "no kernel image" is the GPU
    copy_of 8.9.7 /usr/lib64 text=libcublasLt.so.12
    driver 470.82.01
    check
    finds driver-too-old cudaErrorInsufficientDriver
    says_not 'no kernel image'
    check --gpu 3.5
    finds gpu-not-supported "no kernel image" ;;
D5) # floors by CUDA major; Blackwell on CUDA 12 with 9.7 - 9.10 needs 570.26
    for step in 8.9.7:11:450.80.02 8.9.7:12:525.60.13 9.17.0:13:580.65.06; do
        machine "D5 $step"
        copy_of "${step%%:*}" /usr/lib64 text=libcublasLt.so."$(echo $step | cut -d: -f2)"
        driver "${step##*:}"
        check
        finds_not driver-too-old
        older=${step##*:}
        driver "$((${older%%.*} - 1)).99"
        check
        finds driver-too-old "${step##*:} or later"
    done
    machine "D5 Blackwell"
    copy_of 9.8.0 /usr/lib64 text=libcublasLt.so.12
    driver 560.35.03
    check --gpu 9.0
    is_code 0
    check --gpu 12.0
    finds driver-too-old "570.26 or later"
    driver 570.26
    check --gpu 12.0
    is_code 0 ;;
D6) # Kepler until 8.7, Pascal and Volta until 9.10.2, from 9.11 7.5 and later
    for step in 8.7.0:3.5:0 8.8.0:3.5:1 8.8.0:5.0:0 9.10.2:5.0:0 9.10.2:7.0:0 9.11.0:7.0:1 9.11.0:7.5:0 9.17.0:7.5:0; do
        machine "D6 $step"
        copy_of "${step%%:*}" /usr/lib64
        check --gpu "$(echo $step | cut -d: -f2)"
        is_code "${step##*:}"
    done ;;
*) fail "there is no such claim" ;;
esac
}

for one; do claim "$one"; done
done_all
