# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Completion of anydnn for bash.
_anydnn() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command="" i options
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        inspect | which | check | advise | facts | env | install | list | use | rollback | uninstall | find | verify | run | help) command=${COMP_WORDS[i]} && break ;;
        esac
    done
    case $before in
    --root | --prefix | --link-into | --cwd | --add-dll-directory)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    --facts | --exe | --sha256 | --for | --report | --by | --python | --tune | --lib | --out)
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
    --model)
        mapfile -t COMPREPLY < <(compgen -W "resnet50 vgg16 mobilenet_v2" -- "$word")
        return
        ;;
    --dtype)
        mapfile -t COMPREPLY < <(compgen -W "f32 f16 bf16 f64" -- "$word")
        return
        ;;
    --layout)
        mapfile -t COMPREPLY < <(compgen -W "nchw nhwc" -- "$word")
        return
        ;;
    --engine)
        mapfile -t COMPREPLY < <(compgen -W "ref cpu cuda" -- "$word")
        return
        ;;
    --export)
        mapfile -t COMPREPLY < <(compgen -W "json" -- "$word")
        return
        ;;
    --level)
        mapfile -t COMPREPLY < <(compgen -W "1 2 3" -- "$word")
        return
        ;;
    --batch | --filter) return ;; # free text
    --needs | --env | --windows-path | --flags | --framework | --op) return ;; # free text
    --require) [[ $command == run ]] || return ;;
    --version) [[ $command != advise ]] || return ;;
    esac
    options='--json --quiet --root --facts --help'
    case $command in
    '') options="inspect which check advise facts env install list use rollback uninstall find verify run help $options --version" ;;
    inspect) options="--api --devel $options" ;;
    which) options="--exe --pid --python --needs --by --env --cwd --secure --windows-path --flags --add-dll-directory --unsafe-search $options" ;;
    check) options="--require --gpu --fix --dry-run --env $options" ;;
    advise) options="--version --gpu --framework --os --op $options" ;;
    facts) options="cudnn_releases cudnn_archives cuda_drivers frameworks known-issues $options" ;;
    env) options="shell fish cmake powershell msbuild bazel --prefix --abi $options" ;;
    install) options="--sha256 --verify --no-use --any-machine --prefix --link-into --dry-run $options" ;;
    list) options="--checksums --prefix $options" ;;
    use) options="--prefix --link-into --dry-run $(anydnn list --json 2>/dev/null | sed -n 's/.*"build":[^"]*"\(.*\)".*/\1/p') $options" ;;
    rollback) options="--prefix --dry-run $options" ;;
    uninstall) options="--prefix --dry-run $(anydnn list --json 2>/dev/null | sed -n 's/.*"build":[^"]*"\(.*\)".*/\1/p') $options" ;;
    find) options="--model --batch --dtype --layout --forward --tune --engine --filter --lib --export --out $options" ;;
    verify) options="--level --for --pid --python --manifest $options" ;;
    run) options="--lib --require --verbose --report -- $options" ;;
    help) options='inspect which check advise facts env install list use rollback uninstall find verify run help' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    case $command in
    inspect | advise | find | verify | run | install) [[ $word == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -o filenames -F _anydnn anydnn
