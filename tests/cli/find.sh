#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# find: find.sh BIN_DIR LIBRARY SCRATCH CASE. On engine ref, so that every machine gives the same rows.
set -eu
tool=$1/anydnn bench=$1/dnbench library=$2 dir=$3 case=$4
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
unset ANYDNN_TUNE ANYDNN_TUNE_FILE ANYDNN_LOG ANYDNN_SOLVER CUDNN_LOGDEST_DBG CUDNN_LOGINFO_DBG CUDNN_LOGLEVEL_DBG
export ANYDNN_ENGINE=ref

fail() {
    echo "FAILED: $1"
    cat out err 2>/dev/null || true
    exit 1
}
# gives CODE ARGUMENT...: output in `out`, messages in `err`
gives() {
    wanted=$1
    shift
    code=0
    "$tool" find "$@" >out 2>err || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted: $*"
}
has() { grep -q -- "$1" "${2:-out}" || fail "no \"$1\" in ${2:-out}"; }
hasnt() { if grep -q -- "$1" "${2:-out}"; then fail "there is \"$1\" in ${2:-out}"; fi; }
# row_of FILE PROBLEM: the row that a tuning file names
row_of() { awk -v p="$2" 'NR > 1 { row = $2; sub(/^[^ ]+ [^ ]+ /, ""); if ($0 == p) print row }' "$1"; }

cat >list <<'LIST'
# a comment; y follows from the others
conv fwd x=n1c4h9w9:f32 w=k8c4r3s3:f32 pad=1
conv bwd_data x=n1c4h9w9:f32 w=k8c4r3s3:f32 pad=1   # another
conv bwd_filter x=n1c4h9w9:f32 w=k8c4r3s3:f32 pad=1
pool fwd x=n2c4h9w9:f32 win=3
LIST
problem='conv fwd x=n1c4h9w9:f32:nchw y=n1c8h9w9:f32:nchw w=k8c4r3s3:f32:nchw pad=1'

# second TUNE_FILE READ: a process that takes the algorithm which cudnnGet*_v7 names first, with a log
second() {
    rm -f log
    ANYDNN_TUNE=$2 ANYDNN_TUNE_FILE=$1 ANYDNN_LOG=dispatch,plan ANYDNN_LOG_FILE=log \
        "$bench" time --lib "$library" --repeat 1 "$problem" >out 2>err || fail "the second process"
}

case $case in
file)
    gives 0 --tune deep/tune.txt list
    has "^find: 4 of 4: pool fwd" err
    has '^4 problems; the winners are in deep/tune.txt'
    [ "$(wc -l <deep/tune.txt)" = 5 ] || fail "the tuning file has not one line for each problem"
    [ "$(ls deep)" = tune.txt ] || fail "something was left beside the tuning file"
    has '^anydnn tune 1 ' deep/tune.txt
    row=$(row_of deep/tune.txt "$problem")
    case $row in ref_conv_fwd_*) ;; *) fail "the row of the first problem is \"$row\"" ;; esac
    has " $row (algorithm [0-7], workspace"

    second deep/tune.txt read
    has "^anydnn info: $row as the tuning file says\$" log
    has "^anydnn info: plan $row, workspace [0-9]*: conv fwd x=n1c4h9w9" log
    # Another row in the file is another row in the process: it is the file that decides.
    for other in ref_conv_fwd_gemm ref_conv_fwd_direct; do
        sed "s/^ref $row /ref $other /" deep/tune.txt >changed.txt
        second changed.txt read
        has "^anydnn info: $other as the tuning file says\$" log
        has "^anydnn info: plan $other, " log
    done
    second changed.txt off
    hasnt 'as the tuning file says' log
    hasnt 'plan ref_conv_fwd_direct' log
    # A second run adds to the file and keeps what is there.
    gives 0 -q --tune deep/tune.txt 'conv fwd x=n1c4h5w5:f32 w=k8c4r3s3:f32'
    [ "$(wc -l <deep/tune.txt)" = 6 ] || fail "the second run did not add one line"
    [ ! -s out ] && [ ! -s err ] || fail "--quiet says something"
    # Without --tune: the file of the environment, else the default one.
    ANYDNN_TUNE_FILE=$dir/named.txt gives 0 list
    [ -f named.txt ] || fail "ANYDNN_TUNE_FILE was not used"
    XDG_CACHE_HOME=$dir/cache gives 0 list
    [ -f cache/anydnn/tune.txt ] || fail "the default file was not used"
    ;;
log)
    second none read
    { echo "epoch 1: loss=0.5"; cat log log; printf 'anydnn info: plan ref_x, workspace 0: conv fwd x=n1c4'; } >app.log
    gives 0 --tune tune.txt app.log
    has '^1 problem;'
    [ -n "$(row_of tune.txt "$problem")" ] || fail "the problem of the log is not in the file"
    # Through the callback, or under cuDNN's own variable, the text is the same.
    CUDNN_LOGINFO_DBG=1 CUDNN_LOGDEST_DBG=vendor-way.log "$bench" time --lib "$library" --repeat 1 "$problem" >out || fail "the run for a log"
    gives 0 --tune tune.txt vendor-way.log
    has '^1 problem;'
    grep -v ' plan ' log >no-plan.log || true
    gives 3 --tune tune.txt no-plan.log
    has 'ANYDNN_LOG=plan' err
    echo 'I! CuDNN (v8907 70) function cudnnConvolutionForward() called:' >vendor.log
    gives 3 --tune tune.txt vendor.log
    has "another library's log" err
    ;;
export)
    gives 0 --tune tune.txt --export json list
    for text in '"command":	"find"' '"operation":	"conv"' '"direction":	"bwd_filter"' '"dims":	\[1, 4, 9, 9\]' '"strides":	\[324, 81, 9, 1\]' \
        '"type":	"f32"' '"name":	"ref_conv_fwd_direct"' '"algorithm":	3' '"algorithm":	null' '"workspace":	[1-9]' '"ms":	[0-9]' \
        '"deterministic":	true' '"best":	"ref_pool_fwd"' '"tuning_file":	"tune.txt"' '"interrupted":	false'; do
        has "$text"
    done
    hasnt 'problems; the winners'
    gives 0 --tune tune.txt --export=json --out found.json list
    has '^4 problems'
    has '"best":	"ref_pool_fwd"' found.json
    gives 0 --lib "$library" --json list
    has '"tuning_file":	null'
    has '"deterministic":	null'
    has '"name":	"anydnn8[0-9]*_conv_fwd_1"'
    ;;
model)
    # The numbers of distinct convolutions; no gradient by the network's input.
    for model in 'resnet50 68' 'vgg16 26' 'mobilenet_v2 89'; do
        count=$("$bench" list -l "${model% *}" --filter nothing | wc -l)
        [ "$count" = "${model#* }" ] || fail "the list ${model% *} has $count lines"
    done
    gives 0 --tune tune.txt --model resnet50 --forward --batch 2 --dtype bf16 --layout nhwc --filter ref_conv_fwd_gemm
    [ "$(grep -c ' conv fwd x=n2c[0-9]*h[0-9]*w[0-9]*:bf16:nhwc y=n2c[0-9a-z]*:bf16:nhwc w=k[0-9a-z]*:bf16:nhwc' tune.txt)" = 23 ] ||
        fail "not 23 problems of that shape"
    ;;
interrupt)
    # A shell gives its background processes SIGINT ignored; find listens all the same.
    "$tool" find --tune tune.txt --model vgg16 --json >out 2>err &
    id=$!
    for _ in $(seq 600); do
        if grep -q '^find: 3 of' err || ! kill -0 $id 2>/dev/null; then break; fi
        sleep 0.1
    done
    kill -INT $id
    code=0
    wait $id || code=$?
    [ $code = 130 ] || fail "exit code $code, not that of SIGINT"
    has '"interrupted":	true'
    has 'stopped after [2-9] of 26 problems'
    kept=$(($(wc -l <tune.txt) - 1))
    [ "$kept" -ge 2 ] && [ "$kept" -lt 26 ] || fail "$kept winners are kept"
    [ "$(grep -c '"best":	"' out)" -le "$kept" ] || fail "more is said to be found than was kept"
    [ "$(ls)" = "$(printf 'err\nlist\nout\ntune.txt')" ] || fail "something was left beside the tuning file"
    awk 'NR > 1 && !/^ref ref_conv_[a-z_]+ conv .* pad=1$/ { exit 1 }' tune.txt || fail "the tuning file has a broken line"
    ;;
usage)
    gives 2
    gives 2 --model alexnet
    has 'resnet50, vgg16 and mobilenet_v2' err
    for words in '--batch 0' '--batch x' '--dtype i8' '--layout chwn' '--export csv' '--nonsense' '--tune'; do
        # shellcheck disable=SC2086
        gives 2 --model vgg16 $words
    done
    gives 2 'conv fwd x=n1c4h9w9:f32 w=k8c5r3s3:f32'
    gives 2 --batch 2 list
    has 'are for convolutions' err
    gives 3 --tune tune.txt nowhere.txt
    [ ! -e tune.txt ] || fail "a tuning file was made"
    mkdir -p here/tune.txt
    gives 1 --tune here/tune.txt 'pool fwd x=n2c4h9w9:f32 win=3'
    has '\[not-kept\]'
    # What no row runs is told and is no reason to stop.
    gives 1 --tune tune.txt --filter nothing list
    has '\[no-algorithm\]'
    mkdir alone
    cp "$tool" alone/anydnn
    tool=alone/anydnn gives 3 list
    has 'dnbench was not found' err
    ;;
terminal)
    command -v script >/dev/null || exit 77
    script -qec "'$tool' find --tune tune.txt list" /dev/null >out </dev/null || fail "find on a terminal"
    has '\[#* *\] 3 of 4  pool fwd'
    hasnt '^find: '
    ;;
*) fail "no case $case" ;;
esac
