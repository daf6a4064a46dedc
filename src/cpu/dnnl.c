/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Opening oneDNN: version 3 is asked for first, then 2. Both names are what its packages install. */
#include "cpu/dnnl.h"

#include "core/log.h"
#include "core/os.h"

#include <stdio.h>
#include <string.h>

enum { QUERY_IMPL = 8, QUERY_ARG_MD = 255, KIND_CPU = 1 };

/* The layout that tells one implementation of oneDNN from another: what dnnl_version answers. */
typedef struct version_info {
    int major, minor, patch;
} version_info;

typedef struct candidate {
    const char *file;
    int major;
    const dn_dnnl_interface *i;
} candidate;

#if defined(_WIN32)
/* One name for both versions: the file's own answer decides. */
static const candidate candidates[] = { { "dnnl.dll", 3, &dn_dnnl3 }, { "dnnl.dll", 2, &dn_dnnl2 } };
#elif defined(__APPLE__)
static const candidate candidates[] = { { "libdnnl.3.dylib", 3, &dn_dnnl3 }, { "libdnnl.2.dylib", 2, &dn_dnnl2 } };
#else
static const candidate candidates[] = { { "libdnnl.so.3", 3, &dn_dnnl3 }, { "libdnnl.so.2", 2, &dn_dnnl2 } };
#endif
#define CANDIDATES ((int)(sizeof candidates / sizeof candidates[0]))

static dn_dnnl lib = { .missing = "oneDNN was not looked for" };
static char why[512];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void blame(const char *file, const char *what, const char *detail)
{
    size_t at = strlen(why);
    snprintf(why + at, sizeof why - at, "%s%s: %s%s", at ? "; " : "oneDNN cannot be used: ", file, what, detail);
}

typedef struct symbol {
    const char *name;
    size_t at;  /* offset of the pointer in dn_dnnl */
} symbol;

#define SYM(name, field) { "dnnl_" name, offsetof(dn_dnnl, field) }
static const symbol common[] = {
    SYM("stream_create", stream_create), SYM("stream_wait", stream_wait), SYM("stream_destroy", stream_destroy),
    SYM("primitive_attr_create", attr_create), SYM("primitive_attr_set_scratchpad_mode", attr_set_scratchpad_mode),
    SYM("primitive_attr_set_post_ops", attr_set_post_ops), SYM("primitive_attr_destroy", attr_destroy),
    SYM("post_ops_create", posts_create), SYM("post_ops_destroy", posts_destroy),
    SYM("reorder_primitive_desc_create", reorder_pd), SYM("primitive_desc_query", pd_query),
    SYM("primitive_desc_query_md", pd_query_md), SYM("primitive_desc_destroy", pd_destroy),
    SYM("primitive_create", prim_create), SYM("primitive_execute", prim_execute), SYM("primitive_destroy", prim_destroy),
    SYM("memory_create", mem_create), SYM("memory_set_data_handle", mem_set), SYM("memory_destroy", mem_destroy),
    SYM("memory_desc_get_size", md_size), SYM("memory_desc_equal", md_equal), SYM("sgemm", sgemm),
};
#undef SYM

/* NULL, or the name of a function that is not there. */
static const char *bind_common(void *so, dn_dnnl *d)
{
    for (size_t k = 0; k < sizeof common / sizeof common[0]; k++) {
        void *f = dn_lib_symbol(so, common[k].name);
        if (!f)
            return common[k].name;
        memcpy((char *)d + common[k].at, &f, sizeof f);
    }
    *(void **)&d->omp_set_num_threads = dn_lib_symbol(so, "omp_set_num_threads");
    *(void **)&d->omp_get_max_threads = dn_lib_symbol(so, "omp_get_max_threads");
    return NULL;
}

/* A library that is opened but not fit stays open: it may have made threads. */
static bool try_open(const candidate *c)
{
    void *so = dn_lib_open(c->file);
    if (!so) {
        blame(c->file, "", dn_lib_error());
        return false;
    }
    const version_info *(*version)(void);
    int (*cpu_create)(dn_dnnl_cpu **, int, size_t);
    *(void **)&version = dn_lib_symbol(so, "dnnl_version");
    *(void **)&cpu_create = dn_lib_symbol(so, "dnnl_engine_create");
    if (!version || !cpu_create) {
        blame(c->file, "it is not oneDNN: it lacks ", version ? "dnnl_engine_create" : "dnnl_version");
        return false;
    }
    dn_dnnl d = { .file = c->file, .i = c->i };
    const version_info *v = version();
    d.major = v->major, d.minor = v->minor, d.patch = v->patch;
    if (v->major != c->major) {
        blame(c->file, "its major version is not the one that is wanted under this name", "");
        return false;
    }
    const char *lacks = bind_common(so, &d);
    if (!lacks)
        lacks = c->i->bind(so);
    if (lacks) {
        blame(c->file, "it lacks ", lacks);
        return false;
    }
    int st = cpu_create(&d.cpu, KIND_CPU, 0);
    if (st) {
        blame(c->file, "dnnl_engine_create answered ", dn_dnnl_status_name(st));
        return false;
    }
    lib = d;
    return true;
}

static void open_once(void)
{
    for (int k = 0; k < CANDIDATES; k++) {
        if (!try_open(&candidates[k]))
            continue;
        if (dn_log_on(DN_LOG_INFO))
            dn_log(DN_LOG_INFO, DN_TOPIC_DISPATCH, "oneDNN %d.%d.%d from %s", lib.major, lib.minor, lib.patch, lib.file);
        return;
    }
    lib.missing = why;
    if (dn_log_on(DN_LOG_INFO))
        dn_log(DN_LOG_INFO, DN_TOPIC_DISPATCH, "%s", why);
}

const dn_dnnl *dn_dnnl_get(void)
{
    pthread_once(&once, open_once);
    dn_forked();
    return &lib;
}

const dn_dnnl_md *dn_dnnl_arg_md(const dn_dnnl_pd *pd, int arg)
{
    return lib.pd_query_md(pd, QUERY_ARG_MD, arg);
}

const char *dn_dnnl_impl(const dn_dnnl_pd *pd)
{
    const char *s = NULL;
    return lib.pd_query(pd, QUERY_IMPL, 0, &s) == 0 && s ? s : "";
}

const char *dn_dnnl_status_name(int status)
{
    static const char *const names[] = { "success", "out_of_memory", "invalid_arguments", "unimplemented", "iterator_ends",
                                         "runtime_error", "not_required" };
    return status >= 0 && status < (int)(sizeof names / sizeof names[0]) ? names[status] : "an unknown status";
}

static int enter(int want)
{
    if (!lib.omp_set_num_threads || !lib.omp_get_max_threads)
        return 0;
    int have = lib.omp_get_max_threads();
    if (have == want)
        return 0;
    lib.omp_set_num_threads(want);
    return have;
}

int dn_dnnl_enter(void)
{
    /* After fork the OpenMP run time waits for ever for threads that only the parent has; one thread needs none of them. */
    return enter(dn_forked() ? 1 : dn_thread_count());
}

int dn_dnnl_enter_alone(void)
{
    return enter(1);
}

void dn_dnnl_leave(int saved)
{
    if (saved)
        lib.omp_set_num_threads(saved);
}
