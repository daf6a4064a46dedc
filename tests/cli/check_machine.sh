#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Driver, toolkits, GPU, Debian's nvidia-cudnn, Windows trees, --require.
. "$(dirname "$0")/check_common.sh"

machine "driver too old for the CUDA of the copy"
copy_of 8.9.7 /usr/lib64 text=libcublasLt.so.12
mkdir -p "$root/proc/driver/nvidia" "$root/usr/local/cuda-12.1/bin"
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27 21:21:55 UTC 2021' >"$root/proc/driver/nvidia/version"
printf '{ "cuda" : { "name" : "CUDA SDK", "version" : "12.1.1" } }\n' >"$root/usr/local/cuda-12.1/version.json"
echo x >"$root/usr/local/cuda-12.1/bin/nvcc"
check
finds driver-too-old "driver 470.82.01 is too old for cuDNN 8.9.7 for CUDA 12: 525.60.13 or later is needed"
says '"version":	"12.1.1"'
echo 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.54.03  Release Build' >"$root/proc/driver/nvidia/version"
check
is_code 0
says '"version":	"535.54.03"'

machine "module and library of the driver differ"
mkdir -p "$root/proc/driver/nvidia"
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed' >"$root/proc/driver/nvidia/version"
"$mkelf" "$root/usr/lib64/libcuda.so.535.54.03" soname=libcuda.so.1
ln -s libcuda.so.535.54.03 "$root/usr/lib64/libcuda.so.1"
check
finds driver-mismatch 535.54.03

machine "T13 the driver of WSL"
mkdir -p "$root/usr/lib/wsl/lib"
"$mkelf" "$root/usr/lib/wsl/lib/libcuda.so.1.1" soname=libcuda.so.1
cp "$root/usr/lib/wsl/lib/libcuda.so.1.1" "$root/usr/lib/wsl/lib/libcuda.so.1"
cp "$root/usr/lib/wsl/lib/libcuda.so.1.1" "$root/usr/lib/wsl/lib/libcuda.so"
check --fix
is_code 0
finds wsl-driver-share
[ ! -L "$root/usr/lib/wsl/lib/libcuda.so.1" ] || fail "--fix changed the driver share"

machine "T14 libcuda.so.1 without libcuda.so"
copy_of 8.9.7 /usr/lib64
"$mkelf" "$root/usr/lib64/libcuda.so.535.54.03" soname=libcuda.so.1
ln -s libcuda.so.535.54.03 "$root/usr/lib64/libcuda.so.1"
check
finds no-libcuda-link "ln -s libcuda.so.1"
finds no-libcuda-link "/usr/lib64/libcuda.so.1 is there, the bare name libcuda.so beside it is not"
finds_not incomplete
finds_not sublibrary-not-found

machine "T55 Debian's nvidia-cudnn"
mkdir -p "$root/var/lib/dpkg/info"
printf 'Package: nvidia-cudnn\nStatus: install ok installed\nVersion: 8.9.2.26~cuda12+1\n\n' >"$root/var/lib/dpkg/status"
check
finds nvidia-cudnn-package "8.9.2.26~cuda12+1"
printf 'Package: nvidia-cudnn\nStatus: deinstall ok config-files\nVersion: 8.9.2.26~cuda12+1\n\n' >"$root/var/lib/dpkg/status"
check
finds_not nvidia-cudnn-package

machine "T61 GPU and version"
copy_of 8.8.0 /usr/lib64
check --gpu 3.0
finds gpu-not-supported "cuDNN 8.8.0 does not support compute capability 3.0"
finds gpu-not-supported "install cuDNN 8.7.0: the last version with this GPU"
check --gpu sm_86
is_code 0
machine "T61 Pascal with 9.11"
copy_of 9.11.0 /usr/lib64
check --gpu 6.1
finds gpu-not-supported "install cuDNN 9.10.2: the last version with this GPU"
machine "T61 Blackwell with 9.5"
copy_of 9.5.0 /usr/lib64
check --gpu 12.0
finds gpu-not-supported "install cuDNN 9.7.0: the first version with this GPU"

machine "--require"
copy_of 8.9.7 /usr/lib64
mkdir -p "$root/usr/local/cuda-11.8"
echo '{"cuda":{"version":"11.8.0"}}' >"$root/usr/local/cuda-11.8/version.json"
for good in 8.9.7 8.9 8 8907 8.9.7.29 'cudnn>=8.9' 'cudnn>=8.9.7' 'cudnn<9' 'cuda>=11.8' 'cuda>=11.2' 'cuda==11.8' 'cuda<12'; do
    check --require "$good"
    is_code 0
    finds_not requirement-not-met
done
for bad in 8.9.6 9.1 'cudnn>=8.9.8' 'cudnn>9' 'cuda>=12' 'cuda<11.8' 'driver>=525'; do
    check --require "$bad"
    is_code 1
    finds requirement-not-met "$bad"
done
rm "$root/usr/lib64/libcudnn_adv_train.so.8.9.7"
check --require 8.9.7
finds requirement-not-met "8.9.7 (not complete)"
for wrong in 8.10 8.10.0 cuda 'gpu>=1' '' 'x' '8.9.'; do
    "$anydnn" check --root "$root" --require "$wrong" >"$work/out" 2>&1 && code=0 || code=$?
    is_code 2
done

machine "T48 zlibwapi.dll"
dll() { # DIR PART VERSION [options]
    w_dir=$root/$1 w_name=cudnn$2
    mkdir -p "$w_dir"
    w_version=$3
    shift 3
    "$mkpe" "$w_dir/${w_name}64_${w_version%%.*}.dll" name="${w_name}64_${w_version%%.*}.dll" version="$(number "$w_version")" "$@"
}
bin='Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin'
for part in '' $parts8; do dll "$bin" "$part" 8.8.0; done
check
finds no-zlibwapi zlibwapi.dll
says '"system":	"windows"'
says '"complete":	true'
machine "T48 none from 9.2 on; T42 the installer's folders"
for variant in 12.9 13.0; do
    for part in '' $parts9; do dll "Program Files/NVIDIA/CUDNN/v9.13/bin/$variant" "$part" 9.13.0; done
    header "/Program Files/NVIDIA/CUDNN/v9.13/include/$variant/cudnn_version.h" 9.13.0
done
check
finds_not no-zlibwapi
says '"path":	"/Program Files/NVIDIA/CUDNN/v9.13/bin/13.0"'
says '"cuda":	13'
says '"cuda":	12'
says '"path":	"/Program Files/NVIDIA/CUDNN/v9.13/include/12.9/cudnn_version.h"'
machine "T50 one DLL alone"
dll "tools/cudnn/bin" _ops 9.5.0
check
finds incomplete cudnn_graph64_9.dll

machine "T52 the DLL's imports say which major"
winsite=/Users/u/AppData/Local/Programs/Python/Python311/Lib/site-packages
for part in '' $parts8; do dll "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.1/bin" "$part" 8.9.7; done
distribution $winsite onnxruntime-gpu 1.19.0
mkdir -p "$root$winsite/onnxruntime/capi"
"$mkpe" "$root$winsite/onnxruntime/capi/onnxruntime_providers_cuda.dll" name=onnxruntime_providers_cuda.dll import=cudnn64_9.dll import=cublas64_12.dll
check
finds framework-wrong-major "ONNX Runtime 1.19.0 asks for cudnn64_9.dll; cuDNN 8.9.7 is here"
machine "T52 the other way: 9.2 for a build for 8"
for part in '' $parts9; do dll "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.1/bin" "$part" 9.2.0; done
distribution $winsite onnxruntime-gpu 1.18.1
mkdir -p "$root$winsite/onnxruntime/capi"
"$mkpe" "$root$winsite/onnxruntime/capi/onnxruntime_providers_cuda.dll" name=onnxruntime_providers_cuda.dll import=cudnn64_8.dll import=cublas64_11.dll
check
finds framework-wrong-major "ONNX Runtime 1.18.1 asks for cudnn64_8.dll; cuDNN 9.2.0 is here"

machine "an empty machine"
check
is_code 0
says '"copies":	[]'
"$anydnn" check --root "$work/none" >"$work/out" 2>&1 && code=0 || code=$?
is_code 3
"$anydnn" check --bogus >"$work/out" 2>&1 && code=0 || code=$?
is_code 2
done_all
