/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Frameworks in site-packages: which cuDNN each was built for (its METADATA, else frameworks.tsv), which it would get (the loader's rules,
 * asked from its own library), and whether the two fit. Rule of compatibility: same major, equal or higher minor. */
#include "check.h"
#include "check_wants.h"
#include "search.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DISTRIBUTIONS_AT_MOST = 100000, METADATA_AT_MOST = 16 << 20 };

/* Libraries of a framework that ask for cuDNN, the first that is there counts; below site-packages, patterns in the last part only. */
typedef struct framework_kind {
    const char *distribution; /* pattern for pip's name, with - for _ and . */
    const char *name;
    const char *objects[5];
} framework_kind;

static const framework_kind kinds[] = {
    {"torch", "PyTorch", {"torch/lib/libtorch_cuda.so", "torch/lib/libtorch_cuda_cpp.so", "torch/lib/torch_cuda.dll", "torch/lib/torch_cuda_cpp.dll"}},
    {"tensorflow", "TensorFlow", {"tensorflow/libtensorflow_cc.so.2", "tensorflow/libtensorflow_framework.so.2", "tensorflow/python/_pywrap_tensorflow_internal.*"}},
    {"tensorflow-gpu", "TensorFlow", {"tensorflow/libtensorflow_framework.so.2", "tensorflow/python/_pywrap_tensorflow_internal.*"}},
    {"jax-cuda[0-9]*-plugin", "JAX", {"jax_plugins/xla_cuda12/xla_cuda_plugin.so", "jax_plugins/xla_cuda13/xla_cuda_plugin.so"}},
    {"jaxlib", "JAX", {"jaxlib/xla_extension.so"}},
    {"onnxruntime-gpu", "ONNX Runtime", {"onnxruntime/capi/libonnxruntime_providers_cuda.so", "onnxruntime/capi/onnxruntime_providers_cuda.dll"}},
    {"paddlepaddle-gpu", "PaddlePaddle", {"paddle/base/libpaddle.so", "paddle/fluid/libpaddle.so"}},
    {"mxnet*", "MXNet", {"mxnet/libmxnet.so"}},
    {"cupy*", "CuPy", {"cupy_backends/cuda/libs/cudnn*"}},
};

static const framework_kind *kind_of(const char *name)
{
    char plain[128];
    size_t n = strlen(name);

    if (n >= sizeof plain)
        return NULL;
    for (size_t i = 0; i <= n; i++)
        plain[i] = name[i] == '_' || name[i] == '.' ? '-' : (char)tolower((unsigned char)name[i]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (fnmatch(kinds[i].distribution, plain, 0) == 0)
            return &kinds[i];
    return NULL;
}

/* The framework's own library, inside the tree; NULL where none of the kind's is there. */
static char *object_of(check *k, const char *site, const framework_kind *kind)
{
    char *found = NULL;

    for (size_t i = 0; i < 5 && kind->objects[i] && !found; i++) {
        char *path = tree_join(site, kind->objects[i]), *slash = path ? strrchr(path, '/') : NULL;
        tree_list list = {NULL, 0};

        if (!slash || !strchr(slash, '*')) {
            if (path && tree_look(k->c->root, path, true).kind == TREE_FILE)
                found = cli_format("%s", path);
            free(path);
            continue;
        }
        *slash = 0;
        list = tree_entries(k->c->root, path, 10000);
        for (size_t j = 0; j < list.count && !found; j++)
            if (fnmatch(slash + 1, list.entries[j].name, 0) == 0 && (strstr(list.entries[j].name, ".so") || strstr(list.entries[j].name, ".pyd")))
                found = tree_join(path, list.entries[j].name);
        tree_list_free(&list);
        free(path);
    }
    return found;
}

/* PREFIX/bin/python3 for PREFIX/lib/python3.11/site-packages: its own search paths are those of the process. */
static char *python_of(check *k, const char *site)
{
    const char *lib = strstr(site, "/lib/python");
    char *path = lib ? cli_format("%.*s/bin/python3", (int)(lib - site), site) : NULL, *real = path ? tree_real(k->c->root, path) : NULL;

    free(path);
    return real;
}

/* The name that an object asks for among what was asked: "libcudnn.so.9". */
static const char *asked_name(const ld_process *p)
{
    for (size_t i = 0; i < p->result_count; i++)
        if (strncmp(p->results[i]->needs, "libcudnn.so.", 12) == 0)
            return p->results[i]->needs;
    return NULL;
}

static void set_text(char **to, char *text)
{
    free(*to);
    *to = text;
}

static void take_result(check *k, check_framework *f, ld_process *p, const ld_result *r)
{
    check_copy *copy = r && r->object ? check_copy_of(k, r->object->real) : NULL;
    char *who;

    if (!r || !r->object)
        return;
    set_text(&f->gets, cli_format("%s", r->object->path));
    f->rule = ld_rule_name(r->rule);
    f->version_gets = copy ? copy->version : 0;
    who = cli_format("%s %s", f->name, f->version);
    check_loaded_parts(k, p, r->object, who ? who : f->name);
    free(who);
}

/* Opens the framework's library as Python would and reads which cuDNN came with it, or opens cuDNN by name from it. */
static void ask_loader(check *k, check_framework *f, const char *object)
{
    char *path = check_library_path(k), *python = python_of(k, f->site), error[240];
    ld_settings set = {.root = k->c->root, .library_path = path, .cwd = "/"};
    ld_process *p = ld_process_start(&set, python, error, sizeof error);
    ld_result *r, *cudnn = NULL;

    if (!p && python)
        p = ld_process_start(&set, NULL, error, sizeof error);
    r = p && object ? ld_process_open(p, object, NULL) : NULL;
    if (r && asked_name(p)) {
        set_text(&f->asks, cli_format("%s", asked_name(p)));
        f->links = true;
        cudnn = ld_process_result(p, f->asks);
    } else if (p && f->asks) {
        cudnn = ld_process_open(p, f->asks, r ? r->object : NULL);
    }
    take_result(k, f, p, cudnn);
    if (p)
        ld_process_free(p);
    free(python);
    free(path);
}

/* A copy that lies in the framework's own site-packages, and is of the ABI that it asks for. */
static void take_own_copy(check *k, check_framework *f, int abi, bool is_dll)
{
    for (size_t i = 0; i < k->copy_count && !f->gets; i++) {
        check_copy *copy = &k->copies[i];
        char name[80];

        if (!copy->dir->base || strcmp(copy->dir->base, f->site) != 0 || copy->abi != abi || copy->is_dll != is_dll || copy->files[0].name->mangled)
            continue;
        cli_library_name("", abi, is_dll, name, sizeof name);
        f->gets = tree_join(copy->dir->path, name);
        f->rule = "wheel";
        f->version_gets = copy->version;
        copy->is_used = true;
    }
}

static void ask_windows(check *k, check_framework *f, const char *object)
{
    char *host = tree_host(k->c->root, object);
    cli_file file;

    if (!host)
        return;
    cli_file_inspect(host, &file);
    for (size_t i = 0; i < file.needed_count; i++)
        if (strncmp(file.needed[i], "cudnn64_", 8) == 0) {
            set_text(&f->asks, cli_format("%s", file.needed[i]));
            f->links = true;
        }
    cli_file_free(&file);
    free(host);
    if (f->asks)
        take_own_copy(k, f, atoi(f->asks + strcspn(f->asks, "_") + 1), true);
}

static void judge_version(check *k, const check_framework *f)
{
    int want = check_wants_version(f->wants), major = check_wants_major(f->wants), got = f->version_gets;
    char text[32], *fix = check_wants_fix(f);

    if (!got || !major) {
        free(fix);
    } else if (cli_version_major(got) != major) {
        check_finding(k, CLI_ERROR, "framework-wrong-major", cli_format("%s %s needs cuDNN %s (%s) and gets %s", f->name, f->version, f->wants, f->wants_how,
                                                                        cli_version_text(got, text)),
                      "another major version has other file names, structures and status numbers", fix, f->gets);
    } else if (want && got / 100 < want / 100) {
        check_finding(k, CLI_WARNING, "framework-cudnn-too-old", cli_format("%s %s was built for cuDNN %s (%s) and gets %s: too old", f->name, f->version, f->wants,
                                                                            f->wants_how, cli_version_text(got, text)),
                      "the rule is: same major, equal or higher minor. Frameworks refuse (\"Loaded runtime CuDNN library ... but source was compiled with\"), "
                      "warn, or crash later", fix, f->gets);
    } else if (want && got < want) {
        check_finding(k, CLI_NOTE, "framework-cudnn-patch", cli_format("%s %s was built for cuDNN %s (%s) and gets %s", f->name, f->version, f->wants, f->wants_how,
                                                                       cli_version_text(got, text)),
                      "only the patch level differs, which is compatible", fix, f->gets);
    } else {
        free(fix);
    }
}

/* Nothing by that name. A copy of the other major does not help, and is worth a word. */
static void judge_missing(check *k, const check_framework *f)
{
    const check_copy *other = NULL;
    char text[32];
    int major = atoi(f->asks + strcspn(f->asks, f->is_dll ? "_" : "0123456789") + f->is_dll);

    for (size_t i = 0; i < k->copy_count; i++)
        if (k->copies[i].is_dll == f->is_dll && k->copies[i].abi != major && k->copies[i].version && !k->copies[i].files[0].name->mangled)
            other = &k->copies[i];
    if (other)
        check_finding(k, f->links ? CLI_ERROR : CLI_WARNING, "framework-wrong-major",
                      cli_format("%s %s asks for %s; cuDNN %s is here, which is not it", f->name, f->version, f->asks, cli_version_text(other->version, text)),
                      "the loader goes by the exact name: no link or rename makes one major version of the other", check_wants_fix(f), other->dir->path);
    else
        check_finding(k, f->links ? CLI_ERROR : CLI_NOTE, "framework-no-cudnn", cli_format("%s %s asks for %s, which its search does not find", f->name, f->version, f->asks),
                      f->links ? "importing it ends with \"cannot open shared object file\"" : "it runs on the processor only, or fails at the first convolution",
                      check_wants_fix(f), f->site);
}

static void describe(cJSON *list, const check_framework *f)
{
    cJSON *item = cJSON_CreateObject();
    char text[32];

    cJSON_AddStringToObject(item, "name", f->name);
    cJSON_AddStringToObject(item, "version", f->version);
    cJSON_AddStringToObject(item, "path", f->site);
    cJSON_AddItemToObject(item, "needs", f->wants ? cJSON_CreateString(f->wants) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "needs_known_by", f->wants_how ? cJSON_CreateString(f->wants_how) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "asks_for", f->asks ? cJSON_CreateString(f->asks) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "gets", f->gets ? cJSON_CreateString(f->gets) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "gets_version", f->version_gets ? cJSON_CreateString(cli_version_text(f->version_gets, text)) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "rule", f->rule ? cJSON_CreateString(f->rule) : cJSON_CreateNull());
    cJSON_AddItemToArray(list, item);
}

static void judge(check *k, check_framework *f, const framework_kind *kind)
{
    char *object = object_of(k, f->site, kind);
    int major = check_wants_major(f->wants);

    if (!object && strcmp(f->name, "PyTorch") == 0) {
        char *host_only = tree_join(f->site, "torch/lib/libtorch_cpu.so");

        f->is_cpu = f->is_cpu || (host_only && tree_look(k->c->root, host_only, true).kind == TREE_FILE);
        free(host_only);
    }
    f->is_dll = object ? strstr(object, ".dll") || strstr(object, ".pyd") : strstr(f->site, "/Lib/site-packages") != NULL;
    if (major) {
        char name[80];

        cli_library_name("", major, f->is_dll, name, sizeof name);
        f->asks = cli_format("%s", name);
    }
    if (f->is_dll && object)
        ask_windows(k, f, object);
    else if (!f->is_dll && object)
        ask_loader(k, f, object);
    if (!f->gets && major)
        take_own_copy(k, f, major, f->is_dll);
    if (!f->gets && !object && f->asks && !f->is_dll && !f->is_cpu)
        ask_loader(k, f, NULL);
    if (f->gets)
        judge_version(k, f);
    else if (f->asks && !f->is_cpu)
        judge_missing(k, f);
    free(object);
}

static void add(check *k, const char *site, const char *folder, cJSON *list)
{
    size_t stem = strcspn(folder, "-");
    char *name = cli_format("%.*s", (int)stem, folder), *path = cli_format("%s/%s/METADATA", site, folder);
    const framework_kind *kind = name ? kind_of(name) : NULL;
    char *text = kind && path ? tree_read(k->c->root, path, METADATA_AT_MOST, NULL) : NULL;
    check_framework f = {.site = site, .name = kind ? kind->name : NULL, .distribution = name};

    free(path);
    if (kind) {
        f.version = owner_metadata_field(text, "Version", 0);
        if (!f.version && folder[stem])
            f.version = cli_format("%.*s", (int)(strlen(folder + stem + 1) - strlen(".dist-info")), folder + stem + 1);
    }
    if (kind && f.version) {
        check_wants(k, &f, text);
        judge(k, &f, kind);
        describe(list, &f);
        k->framework_count++;
    }
    free(text);
    free(f.version);
    free(f.wants);
    free(f.wants_how);
    free(f.asks);
    free(f.gets);
    free(name);
}

void check_frameworks(check *k)
{
    cJSON *list = cJSON_AddArrayToObject(k->report.json, "frameworks");

    for (size_t i = 0; i < k->found.sites.count; i++) {
        tree_list names = tree_entries(k->c->root, k->found.sites.items[i], DISTRIBUTIONS_AT_MOST);

        for (size_t j = 0; j < names.count; j++) {
            size_t n = strlen(names.entries[j].name);

            if (n > 10 && strcmp(names.entries[j].name + n - 10, ".dist-info") == 0)
                add(k, k->found.sites.items[i], names.entries[j].name, list);
        }
        tree_list_free(&names);
    }
}
