# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Completion of anydnn for bash.
_anydnn() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command="" i options
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        inspect | which | check | advise | facts | env | help) command=${COMP_WORDS[i]} && break ;;
        esac
    done
    case $before in
    --root | --prefix | --cwd | --add-dll-directory)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    --facts | --exe | --by | --python)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --pid)
        mapfile -t COMPREPLY < <(compgen -W "$(cd /proc 2>/dev/null && echo [0-9]*)" -- "$word")
        return
        ;;
    --abi)
        mapfile -t COMPREPLY < <(compgen -W "8 9" -- "$word")
        return
        ;;
    --os)
        mapfile -t COMPREPLY < <(compgen -W "linux windows" -- "$word")
        return
        ;;
    --gpu)
        mapfile -t COMPREPLY < <(compgen -W "sm_50 sm_60 sm_61 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120" -- "$word")
        return
        ;;
    esac
    options='--json --quiet --root --facts --help'
    case $command in
    '') options="inspect which check advise facts env help $options --version" ;;
    inspect) options="--api --devel $options" ;;
    which) options="--exe --pid --python --needs --by --env --cwd --secure --windows-path --flags --add-dll-directory --unsafe-search $options" ;;
    check) options="--require --gpu --fix --dry-run --env $options" ;;
    advise) options="--version --gpu --framework --os --op $options" ;;
    facts) options="cudnn_releases cudnn_archives cuda_drivers frameworks known-issues $options" ;;
    env) options="shell fish cmake powershell msbuild bazel --prefix --abi $options" ;;
    help) options='inspect which check advise facts env help' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    case $command in
    inspect | advise) [[ $word == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -o filenames -F _anydnn anydnn
