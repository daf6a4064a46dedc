#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# check_oracle.sh LIBCUDNN.SO.8: ref against PyTorch on the CPU, by every oracle here. PYTHON names one that imports torch. As root on a
# Debian-like machine python3-torch is installed where none does; otherwise the line to run is printed. Not part of make check.
set -u
library=${1:?usage: check_oracle.sh LIBCUDNN.SO.8}
here=$(dirname "$0")
find_python() {
    for python in ${PYTHON:-} python3 /usr/bin/python3; do
        "$python" -c 'import torch' 2>/dev/null && return
    done
    return 1
}
if ! find_python; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        export DEBIAN_FRONTEND=noninteractive
        echo "check-oracle: installing python3-torch"
        install() { apt-get install -y -qq --no-install-recommends python3-torch >/dev/null; }
        install || { apt-get update -qq && install; }
    fi
    find_python || { echo "check-oracle: no Python here imports torch (PYTHON=one that does, or: sudo apt-get install -y python3-torch)"; exit 1; }
fi
for oracle in rnn ctc attn; do "$python" -B "$here/$oracle.py" "$library" || exit; done
