/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn env [--abi N] [--prefix DIR] [KIND...]: the settings with which builds and programs find one copy. */
#include "cli.h"
#include "store.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    const char *prefix;
    char *include, *lib; /* below the prefix, as found there */
    int abi;
} place;

typedef struct env_kind {
    const char *name, *summary;
    char *(*text)(const place *p);
} env_kind;

/* text within single quotes of a POSIX shell (or fish, or PowerShell with twice = true: there a quote is doubled). */
static char *quoted(const char *text, bool twice)
{
    char *out = malloc(strlen(text) * 4 + 3), *o = out;
    if (!out)
        return NULL;
    *o++ = '\'';
    for (; *text; text++) {
        const char *as = *text != '\'' ? NULL : twice ? "''" : "'\\''";
        if (as) {
            strcpy(o, as);
            o += strlen(as);
        } else {
            *o++ = *text;
        }
    }
    strcpy(o, "'");
    return out;
}

/* fmt with @0 for the prefix, @1 for the include folder, @2 for the library folder, each quoted. */
static char *fill(const place *p, bool twice, const char *fmt)
{
    char *prefix = quoted(p->prefix, twice), *include = quoted(p->include, twice), *lib = quoted(p->lib, twice);
    char *out = NULL;
    if (prefix && include && lib) {
        const char *values[] = { prefix, include, lib };
        size_t size = strlen(fmt) + 8 * (strlen(prefix) + strlen(include) + strlen(lib)) + 1;
        char *o = out = malloc(size);
        for (; out && *fmt; fmt++)
            if (*fmt == '@' && fmt[1] >= '0' && fmt[1] <= '2')
                o += sprintf(o, "%s", values[*++fmt - '0']);
            else
                *o++ = *fmt;
        if (out)
            *o = 0;
    }
    free(prefix);
    free(include);
    free(lib);
    return out;
}

static char *shell_text(const place *p)
{
    return fill(p, false,
                "export CUDNN_ROOT=@0 CUDNN_PATH=@0 CUDNN_HOME=@0\n"
                "export CUDNN_INCLUDE_DIR=@1 CUDNN_LIBRARY_DIR=@2\n"
                "export CPATH=@1\"${CPATH:+:$CPATH}\" LIBRARY_PATH=@2\"${LIBRARY_PATH:+:$LIBRARY_PATH}\"\n"
                "export LD_LIBRARY_PATH=@2\"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n");
}

static char *fish_text(const place *p)
{
    return fill(p, false,
                "set -gx CUDNN_ROOT @0\nset -gx CUDNN_PATH @0\nset -gx CUDNN_HOME @0\n"
                "set -gx CUDNN_INCLUDE_DIR @1\nset -gx CUDNN_LIBRARY_DIR @2\n"
                "set -gx CPATH (string join : -- @1 $CPATH)\nset -gx LIBRARY_PATH (string join : -- @2 $LIBRARY_PATH)\n"
                "set -gx LD_LIBRARY_PATH (string join : -- @2 $LD_LIBRARY_PATH)\n");
}

/* CMake's bracket arguments take any text without escapes. */
static char *cmake_text(const place *p)
{
    return cli_format("# in a toolchain or cache file (cmake -C FILE), or as -D options\n"
                      "list(PREPEND CMAKE_PREFIX_PATH [==[%s]==])\n"
                      "set(CUDNN_ROOT [==[%s]==] CACHE PATH \"\")\n"
                      "set(CUDNN_ROOT_DIR [==[%s]==] CACHE PATH \"\")\n"
                      "set(CUDNN_INCLUDE_DIR [==[%s]==] CACHE PATH \"\")\n"
                      "set(CUDNN_LIBRARY [==[%s/libcudnn.so]==] CACHE FILEPATH \"\")\n",
                      p->prefix, p->prefix, p->prefix, p->include, p->lib);
}

/* Only this session and only the user's own value, with older entries of the same folder taken out as whole elements. */
static char *powershell_text(const place *p)
{
    char *bin = cli_format("%s\\bin", p->prefix);
    place q = { p->prefix, p->include, bin, p->abi };
    char *out = bin ? fill(&q, true,
                           "$bin = @2\n"
                           "$env:CUDNN_PATH = @0\n"
                           "$env:PATH = (@($bin) + ($env:PATH -split ';' | Where-Object { $_ -and $_ -ne $bin })) -join ';'\n"
                           "# Python 3.8 and later does not search PATH for what extension modules need:\n"
                           "#   import os; os.add_dll_directory(r\"...\")  with the folder in $bin\n"
                           "# to keep it for new sessions (the user's value only):\n"
                           "$user = [Environment]::GetEnvironmentVariable('PATH', 'User')\n"
                           "$user = (@($bin) + ($user -split ';' | Where-Object { $_ -and $_ -ne $bin })) -join ';'\n"
                           "[Environment]::SetEnvironmentVariable('PATH', $user, 'User')\n")
                    : NULL;
    free(bin);
    return out;
}

/* text with the five characters of XML replaced. */
static char *xml(const char *text)
{
    char *out = malloc(strlen(text) * 6 + 1), *o = out;
    for (; out && *text; text++) {
        const char *as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '"' ? "&quot;" : NULL;
        o += as ? sprintf(o, "%s", as) : (*o = *text, 1);
    }
    if (out)
        *o = 0;
    return out;
}

static char *msbuild_text(const place *p)
{
    char *prefix = xml(p->prefix);
    char *out = prefix ? cli_format("<Project>\n  <!-- Directory.Build.props, or cudnn.props imported by the project -->\n"
                                    "  <PropertyGroup><CudnnRoot>%s</CudnnRoot></PropertyGroup>\n"
                                    "  <ItemDefinitionGroup>\n"
                                    "    <ClCompile><AdditionalIncludeDirectories>$(CudnnRoot)\\include;%%(AdditionalIncludeDirectories)"
                                    "</AdditionalIncludeDirectories></ClCompile>\n"
                                    "    <Link><AdditionalLibraryDirectories>$(CudnnRoot)\\lib\\x64;%%(AdditionalLibraryDirectories)"
                                    "</AdditionalLibraryDirectories>\n"
                                    "      <AdditionalDependencies>cudnn.lib;%%(AdditionalDependencies)</AdditionalDependencies></Link>\n"
                                    "  </ItemDefinitionGroup>\n"
                                    "  <PropertyGroup><LocalDebuggerEnvironment>PATH=$(CudnnRoot)\\bin;$(PATH)</LocalDebuggerEnvironment>"
                                    "</PropertyGroup>\n</Project>\n", prefix) : NULL;
    free(prefix);
    return out;
}

/* text within double quotes of Starlark. */
static char *starlark(const char *text)
{
    char *out = malloc(strlen(text) * 2 + 1), *o = out;
    for (; out && *text; text++) {
        if (*text == '"' || *text == '\\')
            *o++ = '\\';
        *o++ = *text;
    }
    if (out)
        *o = 0;
    return out;
}

static char *bazel_text(const place *p)
{
    char *prefix = starlark(p->prefix), *lib = starlark(p->lib), *include = starlark(p->include), *out = NULL;
    size_t n = prefix ? strlen(prefix) : 0;
    if (prefix && lib && include)
        out = cli_format("# MODULE.bazel\n"
                         "new_local_repository = use_repo_rule(\"@bazel_tools//tools/build_defs/repo:local.bzl\", \"new_local_repository\")\n"
                         "new_local_repository(\n    name = \"cudnn\",\n    path = \"%s\",\n    build_file_content = \"\"\"\n"
                         "cc_library(\n    name = \"cudnn\",\n    srcs = glob([\"%s/libcudnn*.so.%d\"]),\n"
                         "    hdrs = glob([\"%s/cudnn*.h\"]),\n    includes = [\"%s\"],\n"
                         "    visibility = [\"//visibility:public\"],\n)\n\"\"\",\n)\n"
                         "# .bazelrc, for programs and tests that open the library by name\n"
                         "# test --test_env=LD_LIBRARY_PATH=%s\n",
                         prefix, lib + n + 1, p->abi, include + n + 1, include + n + 1, lib);
    free(prefix);
    free(lib);
    free(include);
    return out;
}

static const env_kind kinds[] = {
    { "shell", "sh, bash, zsh", shell_text },    { "fish", "fish", fish_text },
    { "cmake", "CMake", cmake_text },            { "powershell", "PowerShell", powershell_text },
    { "msbuild", "MSBuild", msbuild_text },      { "bazel", "Bazel", bazel_text },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The first of the folders below the prefix that holds the file; the last one where none does. */
static char *folder(const cli *c, const char *prefix, const char *const *folders, const char *file)
{
    for (size_t i = 0;; i++) {
        char *dir = tree_join(prefix, folders[i]), *path = dir ? tree_join(dir, file) : NULL;
        bool found = path && tree_look(c->root, path, true).kind != TREE_NONE;
        free(path);
        if (found || !folders[i + 1])
            return dir;
        free(dir);
    }
}

static int print(const cli *c, const place *p, bool *wanted)
{
    cJSON *out = cJSON_CreateObject();
    cJSON_AddNumberToObject(out, "schema", CLI_SCHEMA);
    cJSON_AddStringToObject(out, "anydnn", ANYDNN_VERSION);
    cJSON_AddStringToObject(out, "command", "env");
    cJSON_AddStringToObject(out, "prefix", p->prefix);
    cJSON *settings = cJSON_AddObjectToObject(out, "settings");
    int count = 0;
    for (int i = 0; i < KINDS; i++)
        count += wanted[i];
    for (int i = 0; i < KINDS; i++) {
        if (count && !wanted[i])
            continue;
        char *text = kinds[i].text(p);
        if (!text)
            continue;
        cJSON_AddStringToObject(settings, kinds[i].name, text);
        if (!c->json)
            printf("%s%s%s%s", count == 1 ? "" : "# ---- ", count == 1 ? "" : kinds[i].summary, count == 1 ? "" : "\n", text);
        free(text);
    }
    if (c->json)
        cli_print_json(out);
    cJSON_Delete(out);
    return CLI_GOOD;
}

static int run(cli *c, int argc, char **argv)
{
    static const char *const includes[] = { "include/x86_64-linux-gnu", "include/aarch64-linux-gnu", "include", NULL };
    static const char *const libs[] = { "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib", NULL };
    bool wanted[KINDS] = { false };
    place p = { .abi = 9 };
    const char *value, *abi = "9";
    for (int i = 1; i < argc; i++) {
        if ((value = cli_option_value(argc, argv, &i, "--prefix")) != NULL)
            p.prefix = value;
        else if ((value = cli_option_value(argc, argv, &i, "--abi")) != NULL)
            abi = value;
        else {
            int k = 0;
            while (k < KINDS && strcmp(kinds[k].name, argv[i]) != 0)
                k++;
            if (k == KINDS)
                return cli_usage("env", "\"%s\" is no kind of settings", argv[i]);
            wanted[k] = true;
        }
    }
    p.abi = atoi(abi);
    if (p.abi != 8 && p.abi != 9)
        return cli_usage("env", "--abi must be 8 or 9");
    /* The store's own prefix where it is in use, so that what `install` made is found without a word. */
    char *own = p.prefix ? NULL : store_default_prefix(c), *store = own ? tree_join(own, "opt/cudnn/current") : NULL;
    if (!p.prefix)
        p.prefix = store && tree_look(c->root, store, false).kind == TREE_LINK ? own : "/usr/local";
    free(store);
    if (!*p.prefix || strpbrk(p.prefix, "\n\r"))
        return cli_usage("env", "--prefix needs a folder");
    char soname[32];
    snprintf(soname, sizeof soname, "libcudnn.so.%d", p.abi);
    p.include = folder(c, p.prefix, includes, "cudnn.h");
    p.lib = folder(c, p.prefix, libs, soname);
    int code = p.include && p.lib ? print(c, &p, wanted) : CLI_CANNOT_READ;
    free(p.include);
    free(p.lib);
    free(own);
    return code;
}

const cli_command cli_env = {
    .name = "env",
    .run = run,
    .summary = "settings for shell, CMake, PowerShell, MSBuild, Bazel",
    .usage = "usage: anydnn env [--prefix DIR] [--abi 8|9] [shell|fish|cmake|powershell|msbuild|bazel]...\n\n"
             "Prints what to set so that builds and programs take the copy under DIR: without it, where `anydnn install`\n"
             "puts things if something is in use there (~/.local, for root /usr/local), else /usr/local. With one kind, only its\n"
             "text, as in\n  eval \"$(anydnn env --prefix ~/.local shell)\"\n",
};
