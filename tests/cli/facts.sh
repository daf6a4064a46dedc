#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# The tables, advise, env and help: facts.sh BIN_DIR TEST_DIR SOURCE_DIR SCRATCH
set -eu
tool=$1/anydnn elf=$2/mkelf source=$3 dir=$4
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"

fail() {
    echo "FAILED: $1"
    exit 1
}
# gives CODE ARGUMENT...: output in `out`
gives() {
    wanted=$1
    shift
    code=0
    "$tool" "$@" >out 2>err || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted: $*"
}
has() { grep -q -- "$1" out || fail "no \"$1\" in the output"; }
hasnt() { if grep -q -- "$1" out; then fail "there is \"$1\" in the output"; fi; }

# Every table is embedded as it stands in data/, and every row names its source.
for table in cudnn_releases cudnn_archives cuda_drivers frameworks known-issues; do
    gives 0 facts $table
    tr -d '\r' <"$source/data/$table.tsv" | cmp - out || fail "table $table differs from data/$table.tsv"
    awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "source") s = i; n = NF; next } NF != n || $s == "" { exit 1 }' out ||
        fail "a row of $table has no source or another number of cells"
done
awk -F'\t' 'NR > 1 && $6 !~ /^[0-9a-f]+$/ { exit 1 } NR > 1 && length($6) != 64 { exit 1 }' "$source/data/cudnn_archives.tsv" ||
    fail "a checksum is none"
gives 0 facts cudnn_archives 8.9.7.29 linux-x86_64 cuda11
[ "$(wc -l <out)" = 2 ] || fail "words do not choose one row"
has a3e2509028cecda0117ce5a0f42106346e82e86d390f4bb9475afc976c77402e
gives 0 facts --json frameworks PyTorch 1.13
has '"cudnn":	"8.5.0.96"'
# claims in circulation that the tables must not repeat
gives 0 facts cudnn_releases
awk -F'\t' '$1 ~ /^8\.(1[0-9]|9\.[89])/ { exit 1 }' out || fail "there is no 8.10 and no 8.9.8"
gives 0 facts frameworks PyTorch
hasnt '8\.9\.7'
gives 2 facts no-such-table

# --facts takes the place of a table; a broken file is refused.
head -1 "$source/data/known-issues.tsv" >newer.tsv
printf 'KI-900\t9.1.0\t9.1.0\t9.1.0\twrong-result\tall\tany\t-\tsymptom 900\t-\t9.1.1\trelease-note\ttest\n' >>newer.tsv
gives 1 advise --version 9.1.0 --facts newer.tsv
has 'symptom 900'
hasnt 'KI-0'
gives 0 advise --version 9.1.1 --facts newer.tsv
printf 'a\tb\n1\n' >broken.tsv
gives 3 advise --version 9.1.0 --facts broken.tsv
gives 3 facts --facts nowhere.tsv known-issues

# advise: versions by both formulas, GPU, framework, wording, severity.
gives 2 advise --version 8.10
gives 2 advise --version 8.10.0
gives 1 advise --version 8.9.6 --json
has '"KI-013"'
has 'Affected: before 8.9.7'
gives 1 advise --version 8.9.7 --json
hasnt '"KI-013"'
hasnt '"KI-069"'
gives 1 advise --version 91002 --json
has '"KI-069"'
gives 1 advise --version 9.11.0 --gpu 7.0
has KI-093
gives 1 advise --version 9.11.0 --gpu sm_90
hasnt KI-093
gives 1 advise --version 9.25.1 --gpu 9.0
has 'note: KI-059'
has 'Seen with: 9.25.1'
gives 1 advise --version 8.9.2 --json
has 'Seen with: 8.9.2 (seen)'
gives 1 advise --version 9.1.0 --os linux
hasnt KI-015
gives 1 advise --version 9.1.0 --os windows
has KI-015
gives 1 advise --framework torch-1.13.1 --version 8.5.0
has 'ships cuDNN 8.5.0.96'
gives 2 advise --gpu fast --version 9.1.0
gives 2 advise --framework nothing-1 --version 9.1.0

# advise on a tree that stands for a machine: every version in it, and its GPU
mkdir -p root/usr/local/cuda/lib64 root/proc/driver/nvidia/gpus/0000:01:00.0
"$elf" root/usr/local/cuda/lib64/libcudnn.so.9 soname=libcudnn.so.9 version=91100
gives 1 advise --root root --json
has '"versions":	\["9.11.0"\]'
has '"KI-093"'
printf 'Model: \t\t NVIDIA H200\nIRQ: 1\n' >root/proc/driver/nvidia/gpus/0000:01:00.0/information
gives 1 advise --root root --json
has '"sm":	90'
hasnt '"KI-093"'
gives 3 advise --root "$PWD/newer.tsv"

# env: what is printed works in a shell, with odd names too.
mkdir -p "it's a prefix/lib" "it's a prefix/include"
gives 0 env --prefix "$PWD/it's a prefix" shell
(unset LD_LIBRARY_PATH CPATH && LD_LIBRARY_PATH=/old && eval "$(cat out)" && [ "$LD_LIBRARY_PATH" = "$PWD/it's a prefix/lib:/old" ] &&
    [ "$CPATH" = "$PWD/it's a prefix/include" ]) || fail "the shell settings"
gives 0 env --prefix /opt/x
for text in 'set -gx' CMAKE_PREFIX_PATH 'os.add_dll_directory' AdditionalLibraryDirectories new_local_repository; do has "$text"; done
gives 0 env --json --prefix /opt/x cmake
has '"cmake"'
gives 2 env nothing

# help, and the codes of a wrong command line
gives 0 help
for command in inspect facts advise env help; do
    has "  $command "
    "$tool" help $command | grep -q "usage: anydnn $command" || fail "no help on $command"
done
gives 0 --help
gives 0 inspect --help
gives 2
gives 2 no-such-command
gives 2 inspect --no-such-option
gives 2 facts --root
gives 0 --version
echo good
