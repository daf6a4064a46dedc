# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Completion of anydnn for fish.
set -l commands inspect which check advise facts env help
complete -c anydnn -f
complete -c anydnn -l json -d 'One JSON object on the standard output'
complete -c anydnn -s q -l quiet -d 'Only errors and warnings'
complete -c anydnn -l root -xa '(__fish_complete_directories)' -d 'Another tree stands for the machine'
complete -c anydnn -l facts -rF -d 'A newer table'
complete -c anydnn -s h -l help -d 'Help on the command'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -l version -d 'Version of this program'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -a inspect -d 'What a file, folder, archive or wheel is'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -a which -d 'Which file a name leads to, and why'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -a check -d 'Every cuDNN of this machine'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -a advise -d 'Known defects that fit'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -a facts -d 'The tables'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -a env -d 'Settings for builds and programs'
complete -c anydnn -n "not __fish_seen_subcommand_from $commands" -a help -d 'Help on a command'
complete -c anydnn -n '__fish_seen_subcommand_from inspect advise' -F
complete -c anydnn -n '__fish_seen_subcommand_from inspect' -l api -d 'Lists of functions'
complete -c anydnn -n '__fish_seen_subcommand_from inspect' -l devel -d 'As a development install'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l exe -rF -d 'Program that asks'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l pid -xa '(__fish_complete_pids)' -d 'Running process'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l python -rF -d 'A Python'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l needs -x -d 'Name to look for'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l by -rF -d 'Object that asks'
complete -c anydnn -n '__fish_seen_subcommand_from which check' -l env -x -d 'VAR=VALUE'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l cwd -xa '(__fish_complete_directories)' -d 'Folder it starts in'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l secure -d 'As set-user-ID'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l windows-path -x -d 'PATH of Windows'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l flags -x -d 'Flags of LoadLibraryEx'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l add-dll-directory -xa '(__fish_complete_directories)' -d 'As Python has it'
complete -c anydnn -n '__fish_seen_subcommand_from which' -l unsafe-search -d 'SafeDllSearchMode is off'
complete -c anydnn -n '__fish_seen_subcommand_from check' -l require -x -d '8.9.7, cuda>=11.8, driver>=525'
complete -c anydnn -n '__fish_seen_subcommand_from check' -l fix -d 'Mend links and the cache'
complete -c anydnn -n '__fish_seen_subcommand_from check' -l dry-run -d 'Only show the mends'
complete -c anydnn -n '__fish_seen_subcommand_from check advise' -l gpu -xa 'sm_50 sm_60 sm_61 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120' -d 'Compute capability'
complete -c anydnn -n '__fish_seen_subcommand_from advise' -l version -x -d 'Version of cuDNN'
complete -c anydnn -n '__fish_seen_subcommand_from advise' -l framework -x -d 'Such as torch-1.13'
complete -c anydnn -n '__fish_seen_subcommand_from advise' -l os -xa 'linux windows' -d System
complete -c anydnn -n '__fish_seen_subcommand_from advise' -l op -x -d Operation
complete -c anydnn -n '__fish_seen_subcommand_from facts' -a 'cudnn_releases cudnn_archives cuda_drivers frameworks known-issues'
complete -c anydnn -n '__fish_seen_subcommand_from env' -a 'shell fish cmake powershell msbuild bazel'
complete -c anydnn -n '__fish_seen_subcommand_from env' -l prefix -xa '(__fish_complete_directories)' -d 'Prefix of the copy'
complete -c anydnn -n '__fish_seen_subcommand_from env' -l abi -xa '8 9' -d 'ABI'
complete -c anydnn -n '__fish_seen_subcommand_from help' -a "$commands"
