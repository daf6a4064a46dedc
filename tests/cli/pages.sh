#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# pages.sh ANYDNN SOURCE: every command has a manual page without faults, and every option that `anydnn help COMMAND` names is in that
# page and in the completions of the three shells.
set -eu
anydnn=$1
source=$2
failed=0
fail() {
    echo "FAILED $*"
    failed=1
}
commands=$("$anydnn" help | awk '/^commands:/ { inside = 1; next } /^$/ { inside = 0 } inside { print $1 }')
[ "$(echo "$commands" | wc -l)" -ge 6 ] || fail "help lists only: $commands"
for command in $commands; do
    for file in anydnn.bash _anydnn anydnn.fish; do
        grep -qw -- "$command" "$source/completion/$file" || fail "completion/$file lacks the command $command"
    done
    [ "$command" != help ] || continue
    page=$source/man/anydnn-$command.1
    [ -f "$page" ] || { fail "$page is missing" && continue; }
    # The page's name for an option has \- for each dash.
    for option in $("$anydnn" help "$command" | grep -o -- '--[a-z][a-z0-9-]*' | sort -u); do
        case $option in --json | --quiet | --root | --facts | --help) continue ;; esac
        name=${option#--}
        sed 's/\\-/-/g' "$page" | grep -q -- "$option" || fail "$page lacks $option"
        grep -qw -- "$option" "$source/completion/anydnn.bash" || fail "completion/anydnn.bash lacks $option"
        grep -qw -- "$option" "$source/completion/_anydnn" || fail "completion/_anydnn lacks $option"
        grep -q -- "-l $name " "$source/completion/anydnn.fish" || fail "completion/anydnn.fish lacks $option"
    done
done
for page in "$source"/man/*.1; do
    command -v groff >/dev/null || break
    faults=$(groff -man -Tutf8 -ww -z "$page" 2>&1) || true
    [ -z "$faults" ] || fail "$page: $faults"
done
bash -n "$source/completion/anydnn.bash" || fail "completion/anydnn.bash does not parse"
exit "$failed"
