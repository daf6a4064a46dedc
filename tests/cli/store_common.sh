# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Shared by the tests of install, list, use, rollback and uninstall: small archives in the vendor's layouts. Needs $mkelf and $work.
number() { # 8.9.7 -> 8907, 9.1.0 -> 90100
    echo "$1" | { IFS=. read -r a b c _; if [ "$a" -ge 9 ]; then echo $((a * 10000 + b * 100 + c)); else echo $((a * 1000 + b * 100 + c)); fi; }
}

# The libraries, links and headers of a version in FOLDER/{LIB,include}; parts: which sub-libraries (all of the version).
fill_tree() { # FOLDER VERSION4 CUDA LIB [PARTS]
    t_three=${2%.*} t_abi=${2%%.*}
    mkdir -p "$1/$4" "$1/include"
    case $t_abi in
    8) t_parts='_ops_infer _ops_train _cnn_infer _cnn_train _adv_infer _adv_train' ;;
    *) t_parts='_graph _ops _cnn _adv _engines_precompiled _engines_runtime_compiled _heuristic' ;;
    esac
    for t_part in '' ${5:-$t_parts}; do
        t_name=libcudnn$t_part.so
        "$mkelf" "$1/$4/$t_name.$t_three" soname="$t_name.$t_abi" version="$(number "$2")" text="libcublasLt.so.$3"
        ln -s "$t_name.$t_three" "$1/$4/$t_name.$t_abi"
        ln -s "$t_name.$t_abi" "$1/$4/$t_name"
    done
    echo "$t_three" | { IFS=. read -r a b c
        printf '#define CUDNN_MAJOR %s\n#define CUDNN_MINOR %s\n#define CUDNN_PATCHLEVEL %s\n' "$a" "$b" "$c" >"$1/include/cudnn_version.h"; }
    echo '#include "cudnn_version.h"' >"$1/include/cudnn.h"
}

# The vendor's tar.xz; the path goes to $archive.
vendor_tar() { # VERSION4 CUDA [PARTS]
    v_name=cudnn-linux-x86_64-$1_cuda$2-archive
    rm -rf "$work/pack" && mkdir -p "$work/pack"
    fill_tree "$work/pack/$v_name" "$1" "$2" lib ${3:+"$3"}
    echo license >"$work/pack/$v_name/LICENSE"
    archive=$work/$v_name.tar.xz
    tar -C "$work/pack" -cJf "$archive" "$v_name"
}
