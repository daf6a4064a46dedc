#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Records and links that somebody damaged, on purpose or not: an answer, never a crash, a hang or a step out of the root.
. "$(dirname "$0")/check_common.sh"
site=/usr/lib/python3.11/site-packages

noise() { # FILE BYTES: the same bytes in every run
    mkdir -p "$(dirname "$root$1")"
    awk -v n="$2" 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "%c", int(rand() * 256) }' >"$root$1"
}

machine "links in circles"
mkdir -p "$root/opt/a/b"
ln -s ../.. "$root/opt/a/b/up"
ln -s libcudnn.so.8 "$root/usr/lib64/libcudnn.so.9"
ln -s libcudnn.so.9 "$root/usr/lib64/libcudnn.so.8"
ln -s /etc/loop "$root/etc/loop"
ln -s / "$root/opt/root"
check --fix
finds broken-link libcudnn.so.9
is_code 1

machine "a configuration that includes itself"
mkdir -p "$root/etc/ld.so.conf.d"
echo 'include /etc/ld.so.conf' >"$root/etc/ld.so.conf"
printf 'include ld.so.conf.d/*.conf\n/opt/x # here\n\n   /opt/y   \nhwcap 1 nosegneg\nrelative\ninclude' >>"$root/etc/ld.so.conf"
echo 'include /etc/ld.so.conf.d/*.conf' >"$root/etc/ld.so.conf.d/a.conf"
check
is_code 0

machine "noise in the place of every record"
copy_of 9.1.0 $site/nvidia/cudnn/lib
copy_of 8.9.7 /opt/conda/lib
copy_of 8.9.7 /usr/lib64
for file in /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.preload /var/lib/dpkg/status /var/lib/dpkg/info/x.list $site/torch-2.1.0.dist-info/METADATA \
    $site/torch-2.1.0.dist-info/RECORD $site/tensorflow-.dist-info/METADATA $site/torch/version.py $site/torch/lib/libtorch_cuda.so \
    /opt/conda/conda-meta/a.json /usr/local/cuda-12/version.json /usr/local/cuda-9/version.txt /proc/driver/nvidia/version \
    /usr/include/cudnn.h /usr/lib64/libcudnn_cnn_infer.so.8.9.7 /opt/n/libcudnn.so.99999999999999999999 /opt/n/cudnn64_.dll /opt/n/cudnn64_9.dll; do
    noise "$file" 5000
done
check
is_code 1
check --fix --gpu 8.6 --require 8.9.7

machine "records that speak of cuDNN, cut in odd places"
copy_of 9.1.0 $site/nvidia/cudnn/lib
mkdir -p "$root$site/torch-2.1.0.dist-info" "$root$site/a-1.dist-info" "$root/opt/conda/conda-meta" "$root/var/lib/dpkg/info"
printf 'Name: torch\nVersion: 2.1.0\nRequires-Dist: nvidia-cudnn-cu' >"$root$site/torch-2.1.0.dist-info/METADATA"
printf 'nvidia/cudnn/lib/libcudnn.so.9' >"$root$site/torch-2.1.0.dist-info/RECORD"
printf '"nvidia/cudnn/lib/libcudnn.so.9.1.0\n../../../../../../../../../etc/libcudnn.so.9,\n,cudnn,\n"cudnn' >"$root$site/a-1.dist-info/RECORD"
printf '"libcudnn "lib/libcudnn.so.8" "libcudnn' >"$root/opt/conda/conda-meta/libcudnn.json"
printf '/usr/lib64/libcudnn.so.9\ncudnn' >"$root/var/lib/dpkg/info/cudnn.list"
printf 'Package: cudnn' >"$root/var/lib/dpkg/status"
check
is_code 1
finds two-owners "a 1 (wheel) and torch 2.1.0 (wheel)" # what is left of both records names one file

machine "many versions in one name"
"$mkelf" "$root/usr/lib64/libcudnn.so.8.9.7.6.5.4.3.2.1.0.9.8.7.6.5.4.3.2.1" soname=libcudnn.so.8 version=8907
"$mkelf" "$root/usr/lib64/libcudnn_$(printf 'x%.0s' $(seq 1 150)).so.9" soname=libcudnn.so.9 version=90100
check
check --env "LD_LIBRARY_PATH=$(printf ':%.0s' $(seq 1 500))" --env "PATH=$(printf '/x%.0s' $(seq 1 3000))"
done_all
