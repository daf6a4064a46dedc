#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Installs NVRTC, the CUDA compiler as a library, of the oldest toolkits for the architectures of a release: 11.8 (to 8.9) and 12.3 (9.0a).
# What they make loads on older drivers than what a newer nvcc makes: on any from the first of their major version on. 12.0 to 12.2 know 9.0a
# too, but spill registers where 12.3 does not. They come as Python wheels, 24 MB each.
#   tools/nvrtc_get.sh DIR     DIR/11.8 and DIR/12.3; give DIR as ANYDNN_NVRTC
set -eu
dir=${1:?usage: nvrtc_get.sh DIR}
get() { # get FOLDER PACKAGE VERSION
    if ls "$dir/$1"/nvidia/cuda_nvrtc/lib/libnvrtc.so.* >/dev/null 2>&1; then
        echo "$dir/$1 is there"
        return
    fi
    rm -rf "$dir/$1.part"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: --target "$dir/$1.part" "$2==$3"
    mv "$dir/$1.part" "$dir/$1"
    echo "$dir/$1: $2 $3"
}
mkdir -p "$dir"
get 11.8 nvidia-cuda-nvrtc-cu11 11.8.89
get 12.3 nvidia-cuda-nvrtc-cu12 12.3.107
