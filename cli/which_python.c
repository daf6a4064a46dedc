/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A Python environment, looked at without starting it: which copy of cuDNN each framework's own loading code would end with. What that code
 * does, in short: PyTorch opens torch/lib/libtorch_global_deps.so by path; where a CUDA library that it needs is not found, it opens the
 * libraries of the nvidia-* wheels by path, one folder after the other, and tries again; then it loads its module, whose libraries need
 * libcudnn by name. TensorFlow and JAX open libcudnn by name from inside their own library. ONNX Runtime opens its CUDA provider by path. */
#include "which.h"
#include "file.h"
#include "python_env.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPENS = 3 };

typedef struct framework {
    const char *name, *distribution, *marker; /* marker: a file or folder of it in site-packages */
    const char *open[OPENS];                  /* by path, in this order; a * stands for the rest of a file name */
    const char *callers[OPENS];               /* the first that is loaded asks for libcudnn by name; none: needs it, or does not use it */
} framework;

static const framework frameworks[] = {
    { "PyTorch", "torch", "torch/lib", { "torch/lib/libtorch_global_deps.so", "torch/_C.*", "torch/lib/libtorch_python.so" }, { NULL } },
    { "TensorFlow",
      "tensorflow",
      "tensorflow/python",
      { "tensorflow/python/_pywrap_tensorflow_internal.so" },
      { "libtensorflow_cc.so.2", "libtensorflow_framework.so.2", "_pywrap_tensorflow_internal.so" } },
    { "JAX", "jax-cuda13-plugin", "jax_plugins/xla_cuda13", { "jax_plugins/xla_cuda13/xla_cuda_plugin.so" }, { "xla_cuda_plugin.so" } },
    { "JAX", "jax-cuda12-plugin", "jax_plugins/xla_cuda12", { "jax_plugins/xla_cuda12/xla_cuda_plugin.so" }, { "xla_cuda_plugin.so" } },
    { "ONNX Runtime", "onnxruntime_gpu", "onnxruntime/capi", { "onnxruntime/capi/libonnxruntime_providers_cuda.so" }, { NULL } },
    { "CuPy", "cupy", "cupy_backends/cuda/libs", { "cupy_backends/cuda/libs/cudnn.*" }, { NULL } },
};

/* Path of an entry that may end in a star; NULL where it is not there. */
static char *find_file(const char *root, const char *site, const char *pattern)
{
    char *path = tree_join(site, pattern), *star = path ? strchr(path, '*') : NULL, *found = NULL;

    if (path && !star && tree_look(root, path, true).kind == TREE_FILE)
        return path;
    if (star) {
        char *base = strrchr(path, '/') + 1;
        tree_list list;

        *star = 0;
        base[-1] = 0;
        list = tree_entries(root, path, 4096);
        for (size_t i = 0; i < list.count && !found; i++)
            if (strncmp(list.entries[i].name, base, strlen(base)) == 0 && strstr(list.entries[i].name, ".so"))
                found = tree_join(path, list.entries[i].name);
        tree_list_free(&list);
    }
    free(path);
    return found;
}

/* Version of a distribution from its folder name-version.dist-info; NULL where there is none. */
static char *version_of(const char *root, const char *site, const char *distribution)
{
    tree_list list = tree_entries(root, site, 65536);
    size_t n = strlen(distribution);
    char *version = NULL;

    for (size_t i = 0; i < list.count && !version; i++) {
        const char *name = list.entries[i].name, *end = strstr(name, ".dist-info"), *at;
        bool same = end != NULL;

        for (size_t k = 0; same && k < n; k++)
            same = name[k] == distribution[k] || (name[k] == '_' && distribution[k] == '-');
        if (!same || !(at = strchr(name + n, '-')) || at > end || (at != name + n && name[n] != '_'))
            continue;
        version = cli_format("%.*s", (int)(end - at - 1), at + 1);
    }
    tree_list_free(&list);
    return version;
}

/* The wheels' libraries by path, as PyTorch's own code opens them after a first failure. */
static void preload_wheels(const python_env *e, ld_process *p, const char *root)
{
    static const char *const libraries[][2] = {
        { "cublas", "libcublas.so" },         { "cudnn", "libcudnn.so" },         { "cuda_nvrtc", "libnvrtc.so" },
        { "cuda_runtime", "libcudart.so" },   { "cuda_cupti", "libcupti.so" },    { "cufft", "libcufft.so" },
        { "curand", "libcurand.so" },         { "nvjitlink", "libnvJitLink.so" }, { "cusparse", "libcusparse.so" },
        { "cusparselt", "libcusparseLt.so" }, { "cusolver", "libcusolver.so" },   { "nccl", "libnccl.so" },
        { "nvtx", "libnvToolsExt.so" },
    };

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        for (size_t s = 0; s < e->sites.count; s++) {
            char *pattern = cli_format("nvidia/%s/lib/%s.*", libraries[i][0], libraries[i][1]);
            char *path = pattern ? find_file(root, e->sites.at[s], pattern) : NULL;

            free(pattern);
            if (path) {
                ld_process_open(p, path, NULL);
                free(path);
                break;
            }
        }
}

static ld_object *caller_of(const ld_process *p, const framework *f)
{
    for (int i = 0; i < OPENS && f->callers[i]; i++)
        for (size_t k = 0; k < p->object_count; k++)
            if (strcmp(cli_base_name(p->objects[k]->path), f->callers[i]) == 0)
                return p->objects[k];
    return NULL;
}

/* TensorFlow 2.18 is the first for cuDNN 9; JAX's plugins of CUDA 12 and 13 that are still served ask for 9 as well. */
static int abi_of(const framework *f, const char *version)
{
    int major = 0, minor = 0;

    if (strcmp(f->distribution, "tensorflow") != 0 || !version || sscanf(version, "%d.%d", &major, &minor) != 2)
        return 9;
    return major > 2 || (major == 2 && minor >= 18) ? 9 : 8;
}

static void tag_results(which *w, int from, const framework *f, const char *version)
{
    for (int i = from; i < cJSON_GetArraySize(w->results); i++) {
        cJSON *o = cJSON_GetArrayItem(w->results, i);

        cJSON_AddStringToObject(o, "framework", f->name);
        if (version)
            cJSON_AddStringToObject(o, "framework_version", version);
    }
}

static void load_framework(const python_env *e, ld_process *p, const framework *f, const char *site, const char *root)
{
    for (int i = 0; i < OPENS && f->open[i]; i++) {
        char *path = find_file(root, site, f->open[i]);
        ld_result *r = path ? ld_process_open(p, path, NULL) : NULL;

        if (r && r->error && i == 0 && strcmp(f->distribution, "torch") == 0) {
            preload_wheels(e, p, root);
            ld_process_open(p, path, NULL);
        }
        free(path);
    }
}

static int ask_framework(which *w, const python_env *e, const framework *f, const char *site)
{
    char error[300] = "", *version = version_of(w->c->root, site, f->distribution), name[64];
    ld_process *p = ld_process_start(&w->set, e->program, error, sizeof error);
    int from = cJSON_GetArraySize(w->results);
    ld_object *caller;

    if (!p) {
        cli_problem("anydnn which: %s", error);
        free(version);
        return CLI_CANNOT_READ;
    }
    cli_say(w->c, "%s%s%s in %s\n", f->name, version ? " " : "", version ? version : "", site);
    load_framework(e, p, f, site, w->c->root);
    caller = caller_of(p, f);
    if (caller) {
        cli_library_name("", abi_of(f, version), false, name, sizeof name);
        ld_process_open(p, name, caller);
    }
    which_answer(w, p, NULL);
    tag_results(w, from, f, version);
    ld_process_free(p);
    free(version);
    return CLI_GOOD;
}

/* Every libcudnn of the environment, used or not. */
static void list_copies(which *w, const python_env *e, cJSON *python)
{
    cJSON *copies = cJSON_AddArrayToObject(python, "copies");

    for (size_t i = 0; i < e->library_dirs.count; i++) {
        tree_list list = tree_entries(w->c->root, e->library_dirs.at[i], 65536);

        for (size_t k = 0; k < list.count; k++) {
            cudnn_name n;
            char *path;

            if (!cli_cudnn_name(list.entries[k].name, &n) || *n.part || n.is_static)
                continue;
            path = tree_join(e->library_dirs.at[i], list.entries[k].name);
            cJSON_AddItemToArray(copies, cJSON_CreateString(path ? path : ""));
            cli_say(w->c, "copy: %s\n", path ? path : "");
            free(path);
        }
        tree_list_free(&list);
    }
}

static void add_strings(cJSON *o, const char *name, const ld_strings *s)
{
    cJSON *list = cJSON_AddArrayToObject(o, name);

    for (size_t i = 0; i < s->count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(s->at[i]));
}

/* A script that appends to the variable leaves whatever was there before in front. */
static void judge_activation(which *w, const python_env *e, const char *script)
{
    size_t size;
    char *text = tree_read(w->c->root, script, 1 << 20, &size), *line = text;
    int number = 1;

    for (; line && *line; number++) {
        size_t n = strcspn(line, "\n");
        char *copy = cli_format("%.*s", (int)n, line), *value = copy ? strstr(copy, "LD_LIBRARY_PATH=") : NULL;

        if (value) {
            value += strlen("LD_LIBRARY_PATH=");
            value += strspn(value, "\"'");
            if (strncmp(value, "$LD_LIBRARY_PATH", 16) == 0 || strncmp(value, "${LD_LIBRARY_PATH}", 18) == 0) {
                char *what = cli_format("%s, line %d, puts its directories behind those that LD_LIBRARY_PATH already has.", script, number);
                char *fix = cli_format("In %s, line %d, write $LD_LIBRARY_PATH at the end instead of the start.", script, number);

                cli_where(
                    cli_finding(&w->report, CLI_WARNING, "appended-path", what,
                                "The loader takes the first directory that has the name, so an older copy in front of these stays in use.",
                                fix),
                    script);
                free(what);
                free(fix);
            }
        }
        free(copy);
        line += n + (line[n] != 0);
    }
    free(text);
    (void)e;
}

static void judge_conda(which *w, const python_env *e)
{
    char *dir = e->conda ? tree_join(e->prefix, "etc/conda/activate.d") : NULL;
    tree_list list = { NULL, 0 };

    if (dir)
        list = tree_entries(w->c->root, dir, 256);
    for (size_t i = 0; i < list.count; i++) {
        char *script = tree_join(dir, list.entries[i].name);

        if (script)
            judge_activation(w, e, script);
        free(script);
    }
    tree_list_free(&list);
    free(dir);
}

static bool has_marker(const char *root, const char *site, const char *marker)
{
    char *path = tree_join(site, marker);
    bool has = path && tree_look(root, path, true).kind != TREE_NONE;

    free(path);
    return has;
}

int which_python(which *w)
{
    char error[400] = "";
    python_env e;
    int code = CLI_GOOD;
    bool any = false;

    if (python_env_read(&e, w, error, sizeof error) != 0) {
        cli_problem("anydnn which: %s", error);
        python_env_free(&e);
        return CLI_CANNOT_READ;
    }
    cJSON *python = cJSON_AddObjectToObject(w->report.json, "python");
    cJSON_AddStringToObject(python, "program", e.program);
    cJSON_AddStringToObject(python, "prefix", e.prefix);
    add_strings(python, "sites", &e.sites);
    cli_say(w->c, "Python: %s, prefix %s%s\n", e.program, e.prefix, e.conda ? " (conda)" : e.venv ? " (virtual environment)" : "");
    list_copies(w, &e, python);
    judge_conda(w, &e);
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks && code == CLI_GOOD; i++)
        for (size_t s = 0; s < e.sites.count; s++)
            if (has_marker(w->c->root, e.sites.at[s], frameworks[i].marker)) {
                code = ask_framework(w, &e, &frameworks[i], e.sites.at[s]);
                any = true;
                break;
            }
    if (!any) {
        ld_process *p = ld_process_start(&w->set, e.program, error, sizeof error);

        cli_say(w->c, "No framework that is known here; this is what ctypes would get.\n");
        if (p)
            which_answer(w, p, NULL);
        ld_process_free(p);
        code = p ? CLI_GOOD : CLI_CANNOT_READ;
    }
    python_env_free(&e);
    return code;
}
