#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# completion.sh SHELL ANYDNN SOURCE: bash, zsh or fish loads its completion and is asked what it offers. Skipped (77) without that shell.
set -eu
shell=$1
anydnn=$2
source=$(cd "$3" && pwd)
command -v "$shell" >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home" "$work/tree/folder"
: >"$work/tree/file.so"
HOME=$work/home
ZDOTDIR=$HOME
XDG_CONFIG_HOME=$HOME
XDG_DATA_HOME=$HOME
TERM=dumb
export HOME ZDOTDIR XDG_CONFIG_HOME XDG_DATA_HOME TERM
failed=0

# The function that bash calls at the tab key, with the words that it would give it.
bash_offers() { # LINE
    bash --norc -c '
        source "$1" && complete -p anydnn >/dev/null || exit 1
        read -ra COMP_WORDS <<<"$2"
        [[ $2 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
        _anydnn anydnn "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$source/completion/anydnn.bash" "$1"
}

# A terminal in which the tab key is pressed; each match that the completion adds is noted.
cat >"$work/zsh" <<'ZSH'
zmodload zsh/zpty || exit 77
zpty tty "zsh -f -i"
zpty -w tty "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -u -D; anydnn() { : }; PROMPT="
zpty -w tty 'compadd() {
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        local -a hits
        builtin compadd -A hits "$@"
        (( ! $#hits )) || print -rl -- $hits >>$work/offers
    fi
    builtin compadd "$@"
}
finish() { : >$work/done }
typeset -a comppostfuncs
bindkey "^I" list-choices
: >$work/ready'
wait_for() { for ((i = 0; i < 1500; i++)); do [[ -e $work/$1 ]] && return; zpty -rt tty >/dev/null; sleep 0.02; done; print -u2 "no $1"; exit 1 }
wait_for ready
zpty -w tty 'comppostfuncs=(finish)'
zpty -wn tty "$2"$'\t'
wait_for done
zpty -d tty
ZSH
zsh_offers() { # LINE
    rm -f "$work/offers" "$work/done" "$work/ready"
    work=$work zsh -f "$work/zsh" "$source/completion" "$1" && cat "$work/offers" 2>/dev/null
}

# Only our own file: fish would also load what is installed.
fish_offers() { # LINE
    fish -N -c 'source $argv[1]; function anydnn; end; complete -C $argv[2]' "$source/completion/anydnn.fish" "$1" | cut -f 1
}

ask() { # LINE: what is offered, one a line, in $work/all
    line=$1
    "${shell}_offers" "$line" >"$work/all" 2>"$work/err" || true
    [ ! -s "$work/err" ] || fail "says: $(cat "$work/err")"
}
fail() {
    echo "FAILED $shell at \"$line\": $*"
    failed=1
}
offers() { # WORD...
    for word; do
        grep -qxF -- "$word" "$work/all" || fail "$word is not offered, but: $(tr '\n' ' ' <"$work/all")"
    done
}
offers_not() { # WORD...
    for word; do
        ! grep -qxF -- "$word" "$work/all" || fail "$word is offered"
    done
}

commands=$("$anydnn" help | awk '/^commands:/ { inside = 1; next } /^$/ { inside = 0 } inside { print $1 }')
[ "$(echo "$commands" | wc -l)" -ge 7 ] || { echo "FAILED: help lists only $commands" && exit 1; }
ask 'anydnn '
# shellcheck disable=SC2086
offers $commands
ask 'anydnn in'
offers inspect
offers_not which
ask 'anydnn --json wh'
offers which
ask "anydnn --root $work wh"
offers which
ask 'anydnn help wh'
offers which
for command in $commands; do
    [ "$command" != help ] || continue
    options=$("$anydnn" help "$command" | grep -o -- '--[a-z][a-z0-9-]*' | sort -u)
    ask "anydnn $command --"
    # shellcheck disable=SC2086
    offers $options --json --quiet --root
done
ask 'anydnn which --'
offers_not --api --require
ask 'anydnn check --gpu sm_8'
offers sm_80 sm_86 sm_89
offers_not sm_70
ask 'anydnn advise --os w'
offers windows
ask 'anydnn env po'
offers powershell
ask 'anydnn facts cuda'
offers cuda_drivers
ask 'anydnn which in'
offers_not inspect
ask 'anydnn which --needs '
[ ! -s "$work/all" ] || offers_not --exe inspect folder
case $shell in
zsh) file=file.so folder=folder ;; # without the folder's name
fish) file=$work/tree/file.so folder=$work/tree/folder/ ;;
*) file=$work/tree/file.so folder=$work/tree/folder ;;
esac
ask "anydnn inspect $work/tree/f"
offers "$file" "$folder"
ask "anydnn which --exe $work/tree/f"
offers "$file"
ask "anydnn check --root $work/tree/f"
offers "$folder"
offers_not "$file"
exit "$failed"
