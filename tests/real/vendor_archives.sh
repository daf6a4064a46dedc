#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# vendor_archives.sh FOLDER: from the wheels in FOLDER/wheels, what the vendor's archives hold, under the vendor's names and in its three layouts, in
# FOLDER/archives. The static libraries are not in the wheels and so not here; compression is the fastest one.
set -eu
folder=$(cd "$1" && pwd)
mkdir -p "$folder/archives"

# take WHEEL_PATTERN INTO: the wheel's nvidia/cudnn as INTO
take() {
    # shellcheck disable=SC2086
    wheel=$(ls "$folder"/wheels/$1)
    rm -rf "$2" "$2.part"
    mkdir -p "$2.part"
    python3 -m zipfile -e "$wheel" "$2.part"
    mv "$2.part/nvidia/cudnn" "$2"
    cp "$(find "$2.part" -iname 'license*' | head -n 1)" "$2/LICENSE"
    rm -rf "$2.part"
    find "$2" -name '__init__.py' -exec rm -f {} +
}
# links FOLDER VERSION: libcudnn_x.so.8 becomes a file with the whole version and two links
links() {
    for file in "$1"/*.so.*; do
        plain=${file%.so.*}
        mv "$file" "$plain.so.$2"
        ln -s "${plain##*/}.so.$2" "$plain.so.${2%%.*}"
        ln -s "${plain##*/}.so.${2%%.*}" "$plain.so"
    done
}

# linux BUILD VERSION CUDA WHEEL: the .tar.xz since 8.3.1, one folder of the archive's name with include and lib
linux() {
    name=cudnn-linux-x86_64-$1_cuda$3-archive
    [ ! -f "$folder/archives/$name.tar.xz" ] || return 0
    echo "packing $name.tar.xz"
    take "$4" "$folder/archives/$name"
    links "$folder/archives/$name/lib" "$2"
    tar -C "$folder/archives" --owner=0 --group=0 -cf - "$name" | xz -0 -T2 >"$folder/archives/part"
    rm -rf "$folder/archives/$name"
    mv "$folder/archives/part" "$folder/archives/$name.tar.xz"
}
# before BUILD VERSION CUDA WHEEL: the .tgz before that, a folder cuda with include and lib64
before() {
    name=cudnn-$3-linux-x64-v$1.tgz
    [ ! -f "$folder/archives/$name" ] || return 0
    echo "packing $name"
    take "$4" "$folder/archives/cuda"
    mv "$folder/archives/cuda/lib" "$folder/archives/cuda/lib64"
    mv "$folder/archives/cuda/LICENSE" "$folder/archives/cuda/NVIDIA_SLA_cuDNN_Support.txt"
    links "$folder/archives/cuda/lib64" "$2"
    tar -C "$folder/archives" --owner=0 --group=0 -cf - cuda | gzip -1 >"$folder/archives/part"
    rm -rf "$folder/archives/cuda"
    mv "$folder/archives/part" "$folder/archives/$name"
}
# windows BUILD CUDA WHEEL: the .zip, with bin, include and lib/x64
windows() {
    name=cudnn-windows-x86_64-$1_cuda$2-archive
    [ ! -f "$folder/archives/$name.zip" ] || return 0
    echo "packing $name.zip"
    take "$3" "$folder/archives/$name"
    (cd "$folder/archives" && python3 - "$name" part <<'PYTHON'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
    for where, folders, files in os.walk(sys.argv[1]):
        for file in sorted(files):
            z.write(os.path.join(where, file))
PYTHON
    )
    rm -rf "${folder:?}/archives/$name"
    mv "$folder/archives/part" "$folder/archives/$name.zip"
}

linux 8.9.7.29 8.9.7 12 'nvidia_cudnn_cu12-8.9.7.29-*manylinux*.whl'
linux 9.1.0.70 9.1.0 12 'nvidia_cudnn_cu12-9.1.0.70-*manylinux*.whl'
before 8.9.6.50 8.9.6 11.8 'nvidia_cudnn_cu11-8.9.6.50-*manylinux*.whl'
windows 8.9.7.29 12 'nvidia_cudnn_cu12-8.9.7.29-*win_amd64.whl'
