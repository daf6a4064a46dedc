#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# The ELF reader against readelf, on the libraries that were built: reader.sh BIN_DIR LIB_DIR SCRATCH
set -eu
tool=$1/anydnn lib=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
for abi in 8 9; do
    file=$lib/libcudnn.so.$abi
    "$tool" inspect --json --api "$file" >"$dir/$abi.json" || [ $? = 1 ]
    # functions: real, not real and extra together are what the file exports
    readelf --dyn-syms -W "$file" | awk '$4 == "FUNC" && $7 != "UND" { sub(/@.*/, "", $8); print $8 }' | grep '^cudnn[A-Z]' | sort -u >"$dir/readelf"
    awk -F'\t' '/"(real|not_real|extra)":/ { gsub(/[][",]/, "", $NF); n = split($NF, name, " "); for (i = 1; i <= n; i++) print name[i] }' \
        "$dir/$abi.json" | sort -u >"$dir/tool"
    cmp "$dir/readelf" "$dir/tool" || { echo "FAILED: exports of $file"; exit 1; }
    grep -q '"missing":	\[\]' "$dir/$abi.json" || { echo "FAILED: functions are missing in $file"; exit 1; }
    readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$dir/readelf"
    awk -F'\t' '/"needed":/ { gsub(/[][",]/, "", $NF); n = split($NF, name, " "); for (i = 1; i <= n; i++) print name[i]; exit }' \
        "$dir/$abi.json" >"$dir/tool"
    cmp "$dir/readelf" "$dir/tool" || { echo "FAILED: NEEDED of $file"; exit 1; }
    case $abi in 8) version=8.9.7 ;; *) version=9.19.0 ;; esac
    grep -q "\"version\":	\"$version\"" "$dir/$abi.json" || { echo "FAILED: version of $file"; exit 1; }
    grep -q '"anydnn":	true' "$dir/$abi.json" || { echo "FAILED: $file is ours"; exit 1; }
done
# forwarders: their functions are real where the core's note says so
"$tool" inspect --json --api "$lib/libcudnn_adv.so.9" >"$dir/adv.json" || [ $? = 1 ]
grep -q '"not_real":	\[\]' "$dir/9.json" || grep -q '"not_real":	\["cudnn' "$dir/adv.json" || grep -q '"not_real":	\[\]' "$dir/adv.json"
echo good
