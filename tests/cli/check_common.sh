# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Shared by check_*.sh, which are called with: ANYDNN MKELF MKPE. Each test builds a tree that stands for a machine and asks `anydnn check`.
set -eu
anydnn=$1
mkelf=$2
mkpe=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH LD_PRELOAD CONDA_PREFIX VIRTUAL_ENV CPATH C_INCLUDE_PATH
HOME=/nobody
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME PATH
failed=0
root=
case_name=

# A fresh, empty machine.
machine() { # NAME
    case_name=$1
    echo "case: $1"
    root=$work/$(echo "$1" | tr -c 'A-Za-z0-9\n' _)
    mkdir -p "$root/usr/lib64" "$root/usr/include" "$root/etc"
}

fail() {
    echo "FAILED $case_name: $*"
    sed -n '/"findings":/,/"copies":/p' "$work/out" | head -60
    failed=1
}

parts8='_ops_infer _ops_train _cnn_infer _cnn_train _adv_infer _adv_train'
parts9='_graph _ops _cnn _adv _engines_precompiled _engines_runtime_compiled _heuristic'

number() { # 8.9.7 -> 8907, 9.1.0 -> 90100
    echo "$1" | { IFS=. read -r a b c; if [ "$a" -ge 9 ]; then echo $((a * 10000 + b * 100 + c)); else echo $((a * 1000 + b * 100 + c)); fi; }
}

# One library with its links: libcudnn_ops.so.9.1.0, .so.9 and .so
library() { # DIR PART VERSION [mkelf options...]
    l_dir=$root$1 l_part=$2 l_version=$3
    shift 3
    mkdir -p "$l_dir"
    l_file=libcudnn$l_part.so.$l_version l_soname=libcudnn$l_part.so.${l_version%%.*}
    "$mkelf" "$l_dir/$l_file" soname="$l_soname" version="$(number "$l_version")" "$@"
    ln -sf "$l_file" "$l_dir/$l_soname"
    ln -sf "$l_soname" "$l_dir/libcudnn$l_part.so"
}

# A whole set.
copy_of() { # VERSION DIR [mkelf options...]
    c_version=$1 c_dir=$2
    shift 2
    case $c_version in
    8.*) c_parts=$parts8 ;;
    9.2[1-9].* | 9.[3-9][0-9].*) c_parts="$parts9 _engines_tensor_ir" ;;
    *) c_parts=$parts9 ;;
    esac
    case $c_version in 9.2[4-9].*) c_parts="$c_parts _ext" ;; esac
    for c_part in '' $c_parts; do
        library "$c_dir" "$c_part" "$c_version" "$@"
    done
}

# The header with the version's numbers.
header() { # FILE VERSION
    mkdir -p "$(dirname "$root$1")"
    echo "$2" | { IFS=. read -r a b c
        printf '#define CUDNN_MAJOR %s\n#define CUDNN_MINOR %s\n#define CUDNN_PATCHLEVEL %s\n' "$a" "$b" "$c" >"$root$1"; }
}

# Python distribution with RECORD and METADATA; files given are listed in RECORD.
distribution() { # SITE NAME VERSION [FILE...]
    d_info=$root$1/$(echo "$2" | tr - _)-$3.dist-info d_name=$2 d_version=$3
    mkdir -p "$d_info"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$d_name" "$d_version" >"$d_info/METADATA"
    shift 3
    : >"$d_info/RECORD"
    for d_file; do
        echo "$d_file,sha256=x,1" >>"$d_info/RECORD"
    done
}

# Runs check on the machine; its exit code is in $code, the JSON in $work/out.
check() { # [options...]
    code=0
    "$anydnn" check --json --root "$root" "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -le 1 ] || fail "exit code $code: $(cat "$work/err")"
}

# The finding of this id has this text in it (in what, where, why or fix).
finds() { # ID [TEXT]
    awk -v id="$1" -v text="${2:-}" '
        index($0, "\"findings\":") { inside = 1 }
        inside && index($0, "\"copies\":") { exit }
        inside && index($0, "\"id\":") { here = index($0, "\"" id "\"") > 0 }
        here && (text == "" || index($0, text)) { found = 1 }
        END { exit !found }' "$work/out" || fail "no finding $1${2:+ with \"$2\"}"
}

finds_not() { # ID
    ! grep -q "\"id\":	\"$1\"" "$work/out" || fail "a finding $1 that is not true"
}

says() { # TEXT
    grep -qF "$1" "$work/out" || fail "the report does not say: $1"
}

is_code() { # CODE
    [ "$code" = "$1" ] || fail "exit code $code, not $1"
}

done_all() {
    [ "$failed" = 0 ] || exit 1
}
