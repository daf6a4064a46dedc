/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The order of a name's search:
 *   an object of that name is loaded already | a path: that file |
 *   RPATH of the asking object, of the one that asked for it, and so on, then of the program - unless the asking object has a RUNPATH |
 *   LD_LIBRARY_PATH, not in secure mode | RUNPATH of the asking object | ld.so.cache | the compiled-in directories.
 * What is found is then compared with the loaded files by device and inode. */
#include "search.h"
#include "cli.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NO_DEFAULT_LIBRARIES UINT64_C(0x800) /* DF_1_NODEFLIB */

typedef struct search {
    ld_process *p;
    ld_result *r;
    const char *name;
    ld_object *by;
    bool preload;       /* in secure mode only files with the set-user-ID bit will do */
    char *found;        /* set: what follows is shadowed */
    uint64_t device, inode;
    bool stopped;
} search;

static ld_object *program_of(const ld_process *p)
{
    return p->objects[0];
}

static void *grow(void *list, size_t count, size_t size)
{
    return (count & (count + 1)) == 0 ? realloc(list, (count + 1) * 2 * size) : list; /* at one less than a power of two */
}

static void add_try(search *s, char *path, ld_rule rule, const ld_object *of, bool found, char *why)
{
    ld_try *more = path ? grow(s->r->tries, s->r->try_count, sizeof *more) : NULL;

    if (!more) {
        free(path);
        free(why);
        return;
    }
    s->r->tries = more;
    more[s->r->try_count++] = (ld_try){ path, rule, of, found, why };
}

static bool has_setuid_bit(const ld_process *p, const char *path)
{
    char *absolute = ld_absolute(p, path), *host = absolute ? tree_host(p->set.root, absolute) : NULL;
    struct stat st;
    bool has = host && stat(host, &st) == 0 && (st.st_mode & S_ISUID);

    free(absolute);
    free(host);
    return has;
}

static tree_stat look(const ld_process *p, const char *path)
{
    char *absolute = ld_absolute(p, path);
    tree_stat st = { .kind = TREE_NONE };

    if (absolute)
        st = tree_look(p->set.root, absolute, true);
    free(absolute);
    return st;
}

static void add_shadowed(search *s, const char *path)
{
    tree_stat st = look(s->p, path);

    if ((st.device != s->device || st.inode != s->inode) && !ld_strings_have(&s->r->shadowed, path))
        ld_strings_add(&s->r->shadowed, path);
}

/* One file, path is taken over. LD_ENDS_LIST counts only for the last file of a directory: the loader looks at the last error. */
static ld_verdict try_file(search *s, char *path, ld_rule rule, const ld_object *of)
{
    char *why = NULL;
    ld_verdict v = path ? ld_file_judge(s->p, path, &why) : LD_NOT_THERE;

    if (v == LD_TAKES && s->preload && s->p->set.secure && !strchr(s->name, '/') && !has_setuid_bit(s->p, path)) {
        v = LD_SKIPS;
        why = strdup("has no set-user-ID bit, which a preloaded library needs in secure mode");
    }
    if (s->found) {
        if (v == LD_TAKES)
            add_shadowed(s, path);
        free(path);
        free(why);
        return LD_NOT_THERE;
    }
    if (v == LD_TAKES) {
        tree_stat st = look(s->p, path);

        s->found = strdup(path);
        s->device = st.device;
        s->inode = st.inode;
    }
    if (v == LD_STOPS) {
        s->stopped = s->r->stops = true;
        s->r->error = cli_format("%s: %s", path, why);
    }
    add_try(s, path, rule, of, v == LD_TAKES, why);
    return v;
}

static char *file_in(const char *dir, const char *subdir, const char *name)
{
    return !*dir ? cli_format("%s%s", subdir, name) : strcmp(dir, "/") == 0 ? cli_format("/%s%s", subdir, name)
        : cli_format("%s/%s%s", dir, subdir, name);
}

/* Answers false where the rest of the list is not looked at. */
static bool search_dir(search *s, const char *dir, ld_rule rule, const ld_object *of)
{
    const ld_strings *subdirs = &s->p->machine.subdirs;
    ld_verdict v = LD_NOT_THERE;

    if (*dir && look(s->p, dir).kind != TREE_DIR) {
        if (!s->found)
            add_try(s, file_in(dir, "", s->name), rule, of, false, strdup("the directory is not there"));
        return true;
    }
    for (size_t i = 0; i < subdirs->count && !s->stopped; i++) {
        char *folder = subdirs->at[i][0] ? file_in(dir, subdirs->at[i], "") : NULL;
        bool skip = folder && look(s->p, folder).kind != TREE_DIR;

        free(folder);
        if (!skip)
            v = try_file(s, file_in(dir, subdirs->at[i], s->name), rule, of);
    }
    return v != LD_ENDS_LIST;
}

static void search_dirs(search *s, const ld_strings *dirs, ld_rule rule, const ld_object *of)
{
    for (size_t i = 0; i < dirs->count && !s->stopped; i++)
        if (!search_dir(s, dirs->at[i], rule, of))
            return;
}

static void search_list(search *s, const char *list, ld_rule rule, const ld_object *of)
{
    ld_strings dirs = { NULL, 0 };

    if (s->stopped || !*list) /* an empty list is no list; only between separators is an empty element one */
        return;
    ld_split(s->p, of, list, rule == LD_ENVIRONMENT ? ":;" : ":", &dirs);
    search_dirs(s, &dirs, rule, rule == LD_ENVIRONMENT ? NULL : of);
    ld_strings_free(&dirs);
}

static bool below_system_dir(const ld_machine *m, const char *path)
{
    for (size_t i = 0; i < m->system_dirs.count; i++)
        if (strncmp(path, m->system_dirs.at[i], strlen(m->system_dirs.at[i])) == 0 && path[strlen(m->system_dirs.at[i])] == '/')
            return true;
    return false;
}

static void search_cache(search *s, bool no_default)
{
    const ld_machine *m = &s->p->machine;
    const char *path;

    if (s->stopped)
        return;
    path = m->cache_fault ? NULL : ldcache_find(&m->cache, s->name, ldcache_flags(s->p->elf_class, s->p->elf_machine), &m->cache_cpu);
    if (path && !(no_default && below_system_dir(m, path)))
        try_file(s, strdup(path), LD_CACHE, NULL);
    else if (!s->found)
        add_try(s, strdup(m->cache_path ? m->cache_path : "/etc/ld.so.cache"), LD_CACHE, NULL, false,
                m->cache_fault ? strdup(m->cache_fault) : path ? cli_format("names %s, which -z nodefaultlib forbids", path)
                : cli_format("has no %s for this architecture", s->name));
}

static void search_all(search *s)
{
    ld_object *program = program_of(s->p), *by = s->by ? s->by : program;
    bool no_default = (by->flags_1 & NO_DEFAULT_LIBRARIES) != 0, program_done = false;

    if (!by->runpath) {
        for (ld_object *o = by; o; o = o->loader) {
            if (o->rpath)
                search_list(s, o->rpath, LD_RPATH, o);
            program_done = program_done || o == program;
        }
        if (!program_done && program->rpath)
            search_list(s, program->rpath, LD_RPATH, program);
    }
    if (s->p->set.library_path && *s->p->set.library_path && !s->p->set.secure)
        search_list(s, s->p->set.library_path, LD_ENVIRONMENT, program);
    if (by->runpath)
        search_list(s, by->runpath, LD_RUNPATH, by);
    if (!(s->preload && s->p->set.secure))
        search_cache(s, no_default);
    if (!no_default)
        search_dirs(s, &s->p->machine.system_dirs, LD_DEFAULT, NULL);
}

static bool is_named(ld_object *o, const char *name)
{
    if ((!o->is_program && strcmp(o->path, name) == 0) || ld_strings_have(&o->names, name))
        return true;
    if (o->soname_known || !o->soname || strcmp(o->soname, name) != 0)
        return false;
    o->soname_known = true;
    ld_strings_add(&o->names, name);
    return true;
}

ld_object *ld_process_object(const ld_process *p, const char *name)
{
    for (size_t i = 0; i < p->object_count; i++)
        if (is_named(p->objects[i], name))
            return p->objects[i];
    return NULL;
}

static ld_object *same_file(const ld_process *p, const ld_object *o)
{
    for (size_t i = 0; i < p->object_count; i++)
        if (!p->objects[i]->is_interpreter && !p->objects[i]->is_program && p->objects[i]->inode == o->inode
            && p->objects[i]->device == o->device)
            return p->objects[i];
    return NULL;
}

static int add_object(ld_process *p, ld_object *o)
{
    ld_object **active = grow(p->objects, p->object_count, sizeof *active), **all;

    if (active)
        p->objects = active;
    all = grow(p->all, p->all_count, sizeof *all);
    if (all)
        p->all = all;
    if (!active || !all) {
        ld_object_free(o);
        return -1;
    }
    p->objects[p->object_count++] = o;
    p->all[p->all_count++] = o;
    return 0;
}

static ld_result *add_result(ld_process *p, const char *name, ld_object *by)
{
    ld_result **more = grow(p->results, p->result_count, sizeof *more), *r = calloc(1, sizeof *r);

    if (more)
        p->results = more;
    if (r)
        r->needs = strdup(name);
    if (!more || !r || !r->needs) {
        free(r);
        return NULL;
    }
    r->by = by && *by->path ? by : NULL;
    return p->results[p->result_count++] = r;
}

/* The file is settled: reads it, unless it is loaded already. */
static void load_found(search *s, ld_rule rule)
{
    const char *error = NULL;
    ld_object *o, *old;

    o = ld_object_read(s->p, s->found, &error);
    if (!o) {
        s->r->error = cli_format("%s: %s", s->found, error);
        s->r->stops = true;
        return;
    }
    s->r->rule = rule;
    old = same_file(s->p, o);
    if (old) {
        if (!ld_strings_have(&old->names, s->name))
            ld_strings_add(&old->names, s->name);
        ld_object_free(o);
        s->r->object = old;
        return;
    }
    o->loader = s->by;
    o->rule = rule;
    ld_strings_add(&o->names, s->name);
    if (add_object(s->p, o) == 0)
        s->r->object = o;
}

/* A name with a slash: no search, only that file. */
static void take_path(search *s)
{
    const char *why = NULL;
    char *path = s->by ? ld_expand(s->p, s->by, s->name, &why) : strdup(s->name);

    if (!path)
        add_try(s, strdup(s->name), LD_BY_PATH, NULL, false, strdup(why ? why : "no memory"));
    else
        try_file(s, path, LD_BY_PATH, NULL);
}

/* One request. by: the asking object, NULL for a path that is given to dlopen. */
static ld_result *map_object(ld_process *p, const char *name, ld_object *by, bool preload)
{
    search s = { .p = p, .r = add_result(p, name, by), .name = name, .by = by, .preload = preload };

    if (!s.r)
        return NULL;
    s.r->is_preload = preload;
    s.r->object = ld_process_object(p, name);
    if (s.r->object) {
        s.r->rule = LD_ALREADY;
        return s.r;
    }
    if (strchr(name, '/'))
        take_path(&s);
    else
        search_all(&s);
    if (s.found) {
        ld_rule rule = LD_BY_PATH;

        for (size_t i = 0; i < s.r->try_count; i++)
            if (s.r->tries[i].found)
                rule = s.r->tries[i].rule;
        load_found(&s, preload ? LD_PRELOAD : rule);
    }
    if (!s.r->object && !s.r->error)
        s.r->error = cli_format("%s: cannot open shared object file", name);
    free(s.found);
    return s.r;
}

/* One entry of an object's needs. In secure mode the loader refuses tokens here, even for libraries of the system. */
static ld_result *load_need(ld_process *p, ld_object *o, const char *need)
{
    const char *why;
    char *name = ld_expand(p, o, need, &why);
    ld_result *r;

    if (p->set.secure && (!name || strcmp(name, need) != 0)) {
        r = add_result(p, need, o);
        if (r) {
            r->stops = true;
            r->error = cli_format("%s: $ORIGIN, $LIB and $PLATFORM are not allowed in a need in secure mode", need);
        }
    } else {
        r = map_object(p, name ? name : need, o, false);
    }
    free(name);
    return r;
}

/* All needs of the objects from `first` on, breadth first. Answers whether every one was met. */
static bool load_needs(ld_process *p, size_t first)
{
    bool good = true;

    for (size_t i = first; i < p->object_count; i++) {
        ld_object *o = p->objects[i];

        for (size_t k = 0; k < o->needed.count && !o->is_interpreter; k++) {
            ld_result *r = load_need(p, o, o->needed.at[k]);

            good = good && r && r->object;
        }
    }
    return good;
}

ld_result *ld_process_open(ld_process *p, const char *name, ld_object *by)
{
    size_t count = p->object_count, results = p->result_count;
    ld_object *asks = by ? by : program_of(p);
    ld_result *r = map_object(p, name, strchr(name, '/') && !strchr(name, '$') ? NULL : asks, false);

    if (!r)
        return NULL;
    r->from_dlopen = true;
    if (r->object && p->object_count > count) /* what it needs does not inherit the RPATH of the object that called dlopen */
        r->object->loader = NULL;
    r->by = *asks->path ? asks : NULL;
    if (r->object && p->object_count > count && !load_needs(p, count)) {
        for (size_t i = results; i < p->result_count && !r->error; i++)
            if (p->results[i]->error)
                r->error = cli_format("something that it needs fails: %s", p->results[i]->error);
        p->object_count = count;
    }
    return r;
}

ld_result *ld_process_result(const ld_process *p, const char *name)
{
    for (size_t i = 0; i < p->result_count; i++)
        if (strcmp(p->results[i]->needs, name) == 0)
            return p->results[i];
    return NULL;
}

/* LD_PRELOAD, then /etc/ld.so.preload. What cannot be preloaded is left out, as the loader does after a message. */
static void preload(ld_process *p, const char *list, bool from_file)
{
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, " :\t\n");
        char *name = n ? cli_format("%.*s", (int)n, at) : NULL;

        if (name && !(p->set.secure && !from_file && (strchr(name, '/') || n >= 255)))
            map_object(p, name, program_of(p), true);
        free(name);
        at += n + (at[n] != 0);
    }
}

static void preload_file(ld_process *p)
{
    char *text = tree_read(p->set.root, "/etc/ld.so.preload", 1 << 16, NULL);

    for (char *at = text; at && (at = strchr(at, '#')) != NULL;) /* a comment lasts to the end of the line */
        while (*at && *at != '\n')
            *at++ = ' ';
    if (text)
        preload(p, text, true);
    free(text);
}

static void add_interpreter(ld_process *p)
{
    const char *error;
    char *path = p->machine.interpreter;
    ld_object *o = path ? ld_object_read(p, path, &error) : NULL;

    if (!o)
        return;
    o->is_interpreter = true;
    o->rule = LD_BY_PATH;
    ld_strings_add(&o->names, path);
    add_object(p, o);
}

static ld_object *program_object(ld_process *p, const char *program, char **interpreter, char *error, size_t error_size)
{
    const char *why = "cannot be read";
    ld_object *o;

    if (!program) {
        o = calloc(1, sizeof *o);
        if (o) {
            o->path = strdup("");
            o->origin = strdup(p->set.cwd);
            o->is_program = true;
        }
        return o;
    }
    if (ld_program_kind(p->set.root, program, &p->elf_class, &p->elf_machine, interpreter) != 0) {
        snprintf(error, error_size, "%s is no ELF program that can be read", program);
        return NULL;
    }
    o = ld_object_read(p, program, &why);
    if (!o)
        snprintf(error, error_size, "%s: %s", program, why);
    return o;
}

ld_process *ld_process_start(const ld_settings *set, const char *program, char *error, size_t error_size)
{
    static ld_cpu detected;
    ld_process *p = calloc(1, sizeof *p);
    char *interpreter = NULL;
    ld_object *o;

    if (!p)
        return NULL;
    p->set = *set;
    if (!p->set.cpu) {
        ld_cpu_detect(&detected);
        p->set.cpu = &detected;
    }
    if (!p->set.cwd)
        p->set.cwd = "/";
    p->elf_class = 2;
#ifdef __aarch64__
    p->elf_machine = 183;
#else
    p->elf_machine = 62;
#endif
    o = program_object(p, program, &interpreter, error, error_size);
    if (!o || add_object(p, o) != 0) {
        free(interpreter);
        ld_process_free(p);
        return NULL;
    }
    o->rule = LD_PROGRAM;
    ld_machine_read(&p->machine, &p->set, interpreter, p->elf_class, p->elf_machine);
    free(interpreter);
    if (program)
        add_interpreter(p);
    if (p->set.preload)
        preload(p, p->set.preload, false);
    preload_file(p);
    load_needs(p, 0);
    return p;
}

static void free_result(ld_result *r)
{
    for (size_t i = 0; i < r->try_count; i++) {
        free(r->tries[i].path);
        free(r->tries[i].why_not);
    }
    free(r->tries);
    ld_strings_free(&r->shadowed);
    free(r->needs);
    free(r->error);
    free(r);
}

void ld_process_free(ld_process *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->result_count; i++)
        free_result(p->results[i]);
    for (size_t i = 0; i < p->all_count; i++)
        ld_object_free(p->all[i]);
    free(p->results);
    free(p->objects);
    free(p->all);
    ld_machine_free(&p->machine);
    free(p);
}

const char *ld_rule_name(ld_rule rule)
{
    static const char *const names[] = { NULL, "program", "preload", "already-loaded", "rpath", "LD_LIBRARY_PATH", "runpath", "cache", "default",
                                         "path" };

    return names[rule];
}
