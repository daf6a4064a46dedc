#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Python packages, conda environments, frameworks and what they get.
. "$(dirname "$0")/check_common.sh"
site=/usr/lib/python3.11/site-packages

wheel() { # DISTRIBUTION VERSION [mkelf options...]: a set without bare names, owned by RECORD
    w_name=$1 w_version=$2
    shift 2
    copy_of "$(echo "$w_version" | cut -d. -f1-3)" $site/nvidia/cudnn/lib "$@"
    for f in "$root$site"/nvidia/cudnn/lib/*.so; do rm "$f"; done
    for f in "$root$site"/nvidia/cudnn/lib/*.so.[89]; do cp --remove-destination "$(readlink -f "$f")" "$f"; done
    for f in "$root$site"/nvidia/cudnn/lib/*.so.[89].*; do rm "$f"; done
    # shellcheck disable=SC2046
    distribution $site "$w_name" "$w_version" $(cd "$root$site" && ls nvidia/cudnn/lib/* | sort)
}

torch_library() { # [mkelf options...]
    mkdir -p "$root$site/torch/lib"
    "$mkelf" "$root$site/torch/lib/libtorch_cuda.so" soname=libtorch_cuda.so "$@"
}

machine "T27 same major, equal or higher minor: 9.13.1 on 9.10.1"
wheel nvidia-cudnn-cu12 9.10.1.4
distribution $site jax-cuda12-plugin 0.7.2
echo 'Requires-Dist: nvidia-cudnn-cu12>=9.13.1,<10.0; extra == "with-cuda"' >>"$root$site/jax_cuda12_plugin-0.7.2.dist-info/METADATA"
mkdir -p "$root$site/jax_plugins/xla_cuda12"
"$mkelf" "$root$site/jax_plugins/xla_cuda12/xla_cuda_plugin.so" soname=xla.so 'rpath=$ORIGIN/../../nvidia/cudnn/lib' needed=libcudnn.so.9
check
is_code 1
finds framework-cudnn-too-old "JAX 0.7.2 was built for cuDNN >=9.13.1,<10.0 (its METADATA) and gets 9.10.1: too old"
finds framework-cudnn-too-old "pip install 'nvidia-cudnn-cu12>=9.13.1,<10"
finds framework-cudnn-too-old '"severity":	"warning"'

machine "T27 9.10 on 9.13 is fine"
wheel nvidia-cudnn-cu12 9.13.1.26 'runpath=$ORIGIN'
distribution $site torch 2.8.0+cu128
echo 'Requires-Dist: nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux"' >>"$root$site/torch-2.8.0+cu128.dist-info/METADATA"
torch_library 'rpath=$ORIGIN/../../nvidia/cudnn/lib' needed=libcudnn.so.9
check
is_code 0
says '"gets_version":	"9.13.1"'
says '"needs":	"==9.10.2.21"'
says '"package":	"nvidia-cudnn-cu12"'
says '"complete":	true'

machine "T27 8 on 9"
wheel nvidia-cudnn-cu12 9.1.0.70
distribution $site torch 2.1.0+cu121
torch_library 'rpath=$ORIGIN/../../nvidia/cudnn/lib' needed=libcudnn.so.8
check
finds framework-wrong-major "PyTorch 2.1.0+cu121 asks for libcudnn.so.8; cuDNN 9.1.0 is here"
finds framework-wrong-major '"severity":	"error"'
finds framework-wrong-major "nvidia-cudnn-cu12==8.9.2.26"

machine "T28 an older minor is a warning with its reason"
wheel nvidia-cudnn-cu12 8.7.0.84
distribution $site tensorflow 2.15.0
mkdir -p "$root$site/tensorflow"
"$mkelf" "$root$site/tensorflow/libtensorflow_cc.so.2" soname=libtensorflow_cc.so.2 'rpath=$ORIGIN/../nvidia/cudnn/lib'
check
is_code 1
finds framework-cudnn-too-old "TensorFlow 2.15.0 was built for cuDNN 8.9 (frameworks.tsv) and gets 8.7.0: too old"
finds framework-cudnn-too-old '"severity":	"warning"'
finds framework-cudnn-too-old "same major, equal or higher minor"

machine "T28 another patch level is a note"
wheel nvidia-cudnn-cu12 9.1.0.70 'runpath=$ORIGIN'
distribution $site torch 2.6.0+cu126
echo 'Requires-Dist: nvidia-cudnn-cu12 (==9.1.1.17) ; platform_system == "Linux"' >>"$root$site/torch-2.6.0+cu126.dist-info/METADATA"
torch_library 'rpath=$ORIGIN/../../nvidia/cudnn/lib' needed=libcudnn.so.9
check
is_code 0
finds framework-cudnn-patch "gets 9.1.0"
finds framework-cudnn-patch '"severity":	"note"'

machine "V3 the table speaks where METADATA does not"
distribution $site tensorflow 2.11.0
check
says '"needs":	"8.1"'
says '"asks_for":	"libcudnn.so.8"'
finds framework-no-cudnn
is_code 0

machine "a build for the processor needs none"
distribution $site torch 2.3.0+cpu
check
is_code 0
finds_not framework-no-cudnn

machine "T26 LD_LIBRARY_PATH of conda before the wheel"
env=/root/miniconda3/envs/tf
site=$env/lib/python3.10/site-packages
copy_of 8.1.0 $env/lib
mkdir -p "$root$env/conda-meta" "$root/root/miniconda3/conda-meta"
printf '{\n "files": [\n  "lib/libcudnn.so.8",\n  "lib/libcudnn.so.8.1.0"\n ],\n "name": "cudnn"\n}\n' >"$root$env/conda-meta/cudnn-8.1.0.77-h90431f1_0.json"
wheel nvidia-cudnn-cu11 8.6.0.163
distribution $site tensorflow 2.12.0
mkdir -p "$root$site/tensorflow"
"$mkelf" "$root$site/tensorflow/libtensorflow_cc.so.2" soname=libtensorflow_cc.so.2 'runpath=$ORIGIN/../nvidia/cudnn/lib'
check --env LD_LIBRARY_PATH=$env/lib
finds framework-cudnn-too-old "TensorFlow 2.12.0 was built for cuDNN 8.6 (frameworks.tsv) and gets 8.1.0"
says '"package":	"cudnn"'
says '"kind":	"conda"'
check
finds_not framework-cudnn-too-old
says '"gets_version":	"8.6.0"'
site=/usr/lib/python3.11/site-packages

machine "T29 two distributions bring cuDNN"
wheel nvidia-cudnn-cu12 9.1.0.70
copy_of 9.5.1 $site/cupy/.data/lib
# shellcheck disable=SC2046
distribution $site cupy-cuda12x 13.3.0 $(cd "$root$site" && ls cupy/.data/lib/* | sort)
check
finds two-owners "cupy-cuda12x 13.3.0 (wheel) has 9.5.1, nvidia-cudnn-cu12 9.1.0.70 (wheel) has 9.1.0"

advise() { # [options...]
    code=0
    "$anydnn" advise --json --root "$root" "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -le 1 ] || fail "exit code $code: $(cat "$work/err")"
}
with_torch() { # TORCH [option...]: cuDNN 9.13.0 and a PyTorch that gets it; KI-070 is for users of PyTorch 2.9, KI-900 for those of JAX, KI-901 for all
    machine "advise: PyTorch $1"
    wheel nvidia-cudnn-cu12 9.13.0.50 'runpath=$ORIGIN'
    distribution $site torch "$1"
    torch_library 'rpath=$ORIGIN/../../nvidia/cudnn/lib' needed=libcudnn.so.9
    "$anydnn" facts known-issues >"$root/rows.tsv"
    printf 'KI-900\t9.13.0 with JAX\t9.13.0\t9.13.0\terror\tall\tany\t-\ts\t-\t-\trelease-note\tt\n' >>"$root/rows.tsv"
    printf 'KI-901\t9.13.0\t9.13.0\t9.13.0\terror\tall\tany\t-\ts\t-\t-\trelease-note\tt\n' >>"$root/rows.tsv"
    printf 'KI-902\t9.13.0, JAX and PyTorch\t9.13.0\t9.13.0\terror\tall\tany\t-\ts\t-\t-\trelease-note\tt\n' >>"$root/rows.tsv"
    shift
    advise --facts "$root/rows.tsv" "$@"
    says '"KI-901"'
}
with_torch 2.9.1+cu128
says "PyTorch 2.9.1+cu128 is installed here; it was built for cuDNN 9.10.2.21 and gets 9.13.0"
says '"gets_version":	"9.13.0"'
says '"KI-070"'
says '"KI-902"'
! grep -q '"KI-900"' "$work/out" || fail "a row for users of JAX, which is not here"
with_torch 2.8.0+cu128
! grep -q '"KI-070"' "$work/out" || fail "a row for PyTorch 2.9, and 2.8 is here"
with_torch 2.9.1+cu128 --framework jax-0.7
says '"KI-900"'
says '"KI-902"'
! grep -q '"KI-070"' "$work/out" || fail "--framework does not take the place of what is found"
! grep -q 'is installed here' "$work/out" || fail "what is found is told beside --framework"
with_torch 2.9.1+cu128 --version 9.13.0 # another machine
says '"KI-900"'
! grep -q '"frameworks"' "$work/out" || fail "the machine was searched although a version is named"
# A version that no framework gets may be anybody's.
copy_of 9.13.0 /usr/lib64
copy_of 9.12.0 /opt/cudnn/lib
sed 's/9\.13\.0/9.12.0/g' "$root/rows.tsv" >"$root/rows2.tsv"
advise --facts "$root/rows2.tsv"
says '"versions":	["9.13.0", "9.12.0"]'
says '"KI-900"'

machine "T59 a wheel that was withdrawn"
advise --version 9.0.0
says '"KI-091"'
says '"affected":	"9.0.0.312 (pip, cu12)"'
advise --version 9.1.0
! grep -q '"KI-091"' "$work/out" || fail "9.1.0 was not withdrawn"

machine "mangled copies of wheels are listed and not judged"
mkdir -p "$root$site/ctranslate2.libs"
"$mkelf" "$root$site/ctranslate2.libs/libcudnn-74a4c495.so.9.1.0" soname=libcudnn-74a4c495.so.9.1.0 version=90100
check
is_code 0
says libcudnn-74a4c495.so.9.1.0
done_all
