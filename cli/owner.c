/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Records: /var/lib/dpkg/info/PACKAGE.list (one path a line), *.dist-info/RECORD (comma-separated, path first, relative to the folder above;
 * PEP 376), conda-meta/NAME-VERSION-BUILD.json (paths relative to the environment). Only lines that name cuDNN are kept. The database of rpm is
 * binary, of three kinds (sqlite, ndb, Berkeley): the program rpm reads it. */
#include "owner.h"

#include "cli.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>

enum { RECORD_AT_MOST = 64 << 20, NAMES_AT_MOST = 200000, RPM_SECONDS = 5, RPM_FILES = 500 };

static size_t add_owner(owners *o, const char *kind, const char *package, const char *version, const char *place)
{
    owner **grown = realloc(o->items, (o->count + 1) * sizeof *grown), *who = grown ? malloc(sizeof *who) : NULL;

    o->items = grown ? grown : o->items;
    if (!who)
        return OWNER_NONE;
    *who = (owner){.kind = kind, .package = strdup(package), .version = version ? strdup(version) : NULL, .place = place ? strdup(place) : NULL};
    grown[o->count] = who;
    return o->count++;
}

static void add_entry(owners *o, char *path, size_t who)
{
    owner_entry *grown = path && who != OWNER_NONE ? realloc(o->entries, (o->entry_count + 1) * sizeof *grown) : NULL;

    if (!grown) {
        free(path);
        return;
    }
    o->entries = grown;
    grown[o->entry_count++] = (owner_entry){.path = path, .owner = who};
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Libraries and headers of cuDNN. */
static bool is_kept(const char *path)
{
    const char *name = cli_base_name(path);
    cudnn_name parts;
    bool mangled;

    return discover_is_cudnn(name, &parts, &mangled) || (strncmp(name, "cudnn", 5) == 0 && ends_with(name, ".h"));
}

char *owner_metadata_field(const char *text, const char *field, size_t index)
{
    size_t n = strlen(field);

    for (const char *line = text; line && *line && *line != '\n' && *line != '\r'; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        size_t end = strcspn(line, "\r\n");
        const char *value = line + n + 1;

        if (strncmp(line, field, n) != 0 || line[n] != ':' || index-- != 0)
            continue;
        value += strspn(value, " \t");
        return cli_format("%.*s", (int)(line + end - value > 0 ? line + end - value : 0), value);
    }
    return NULL;
}

char *owner_dpkg_version(const char *root, const char *package)
{
    char *status = tree_read(root, "/var/lib/dpkg/status", RECORD_AT_MOST, NULL), *key = cli_format("Package: %s\n", package);
    char *at = status, *version = NULL, *state = NULL;

    while (key && at && (at = strstr(at, key)) != NULL && at != status && at[-1] != '\n')
        at++;
    if (key && at) {
        state = owner_metadata_field(at, "Status", 0);
        if (state && ends_with(state, " installed"))
            version = owner_metadata_field(at, "Version", 0);
    }
    free(state);
    free(key);
    free(status);
    return version;
}

/* Calls each for the lines of text that name cuDNN. */
static void each_line(owners *o, char *text, const char *place, size_t *who, void (*each)(owners *, char *, const char *, size_t *))
{
    char *at = text, *start, *end;

    while (at && (at = strstr(at, "cudnn")) != NULL) {
        for (start = at; start > text && start[-1] != '\n' && start[-1] != 0; start--) /* 0 ends the line before */
            ;
        end = at + strcspn(at, "\n");
        at = *end ? end + 1 : end;
        *end = 0;
        each(o, start, place, who);
    }
}

/* The record's line keeps the name that the package uses; /lib may be a link to /usr/lib. */
static void dpkg_line(owners *o, char *line, const char *package, size_t *who)
{
    if (!is_kept(line))
        return;
    if (*who == OWNER_NONE) {
        char *bare = cli_format("%.*s", (int)strcspn(package, ":"), package), *version = bare ? owner_dpkg_version(o->root, bare) : NULL;

        *who = add_owner(o, "dpkg", bare ? bare : package, version, NULL);
        free(version);
        free(bare);
    }
    add_entry(o, tree_real_parent(o->root, line), *who);
}

static void read_dpkg(owners *o)
{
    static const char info[] = "/var/lib/dpkg/info";
    tree_list list = tree_entries(o->root, info, NAMES_AT_MOST);

    for (size_t i = 0; i < list.count; i++) {
        char *name = list.entries[i].name, *path, *text;
        size_t who = OWNER_NONE;

        if (!ends_with(name, ".list"))
            continue;
        path = tree_join(info, name);
        text = path ? tree_read(o->root, path, RECORD_AT_MOST, NULL) : NULL;
        name[strlen(name) - 5] = 0;
        each_line(o, text, name, &who, dpkg_line);
        free(text);
        free(path);
    }
    tree_list_free(&list);
}

/* "libcudnn8\t8.9.7.29-1.cuda12.2\t/usr/lib64/libcudnn.so.8" */
static void rpm_line(owners *o, char *line, const char *place, size_t *who)
{
    char *version = strchr(line, '\t'), *path = version ? strchr(version + 1, '\t') : NULL;

    (void)place;
    if (!path || !is_kept(path + 1))
        return;
    *version++ = 0;
    *path++ = 0;
    if (*who == OWNER_NONE || strcmp(o->items[*who]->package, line) != 0 || strcmp(o->items[*who]->version, version) != 0)
        *who = add_owner(o, "rpm", line, version, NULL);
    add_entry(o, tree_real_parent(o->root, path), *who);
}

/* Folder of rpm's database as this process sees it; NULL where there is none. The caller frees. */
static char *rpm_database(const char *root)
{
    static const char *const files[] = {"/usr/lib/sysimage/rpm/rpmdb.sqlite", "/usr/lib/sysimage/rpm/Packages.db", "/usr/lib/sysimage/rpm/Packages",
                                        "/var/lib/rpm/rpmdb.sqlite",          "/var/lib/rpm/Packages.db",          "/var/lib/rpm/Packages"};
    char *host = NULL, *full;

    for (size_t i = 0; !host && i < sizeof files / sizeof *files; i++)
        host = tree_look(root, files[i], true).kind == TREE_FILE ? tree_host(root, files[i]) : NULL;
    full = host ? realpath(host, NULL) : NULL; /* rpm wants it absolute */
    if (full)
        *strrchr(full, '/') = 0;
    free(host);
    return full;
}

/* Asks rpm for all files of the packages that own these; a file that no package owns is a line without tabs. */
static void read_rpm(owners *o, char *const *paths, size_t count)
{
    static const char *const c_locale[] = {"LC_ALL=C", NULL};
    char *database = count ? rpm_database(o->root) : NULL;
    const char *const start[] = {"rpm", "--dbpath", database, "-q", "--qf", "[%{=NAME}\\t%{=VERSION}-%{=RELEASE}\\t%{FILENAMES}\\n]", "-f"};
    enum { START = sizeof start / sizeof *start };
    const char **argv = database ? malloc((START + count + 1) * sizeof *argv) : NULL;
    size_t who = OWNER_NONE;
    process rpm;

    if (argv) {
        memcpy(argv, start, sizeof start);
        for (size_t i = 0; i < count; i++)
            argv[START + i] = paths[i];
        argv[START + count] = NULL;
        if (process_run(&rpm, argv, c_locale, RPM_SECONDS) == 0) {
            if (rpm.output.text && !rpm.late)
                each_line(o, rpm.output.text, NULL, &who, rpm_line);
            process_free(&rpm);
        }
    }
    free(argv);
    free(database);
}

/* All files of a folder at once. */
static void read_rpm_folder(owners *o, const discover_dir *dir)
{
    char **paths = calloc(dir->count + 1, sizeof *paths);
    size_t count = 0;

    for (size_t i = 0; paths && i < dir->count && count < RPM_FILES; i++) {
        paths[count] = tree_join(dir->path, dir->files[i].name);
        if (paths[count] && discover_names_add(&o->asked, paths[count]))
            count++;
        else
            free(paths[count]);
    }
    read_rpm(o, paths, count);
    while (count > 0)
        free(paths[--count]);
    free(paths);
}

static void record_line(owners *o, char *line, const char *site, size_t *who)
{
    char *path = *line == '"' ? line + 1 : line;

    path[strcspn(path, *line == '"' ? "\"" : ",")] = 0;
    if (!is_kept(path))
        return;
    path = tree_join(site, path);
    add_entry(o, path ? tree_real_parent(o->root, path) : NULL, *who);
    free(path);
}

/* A distribution's name and version, from its METADATA, else from the folder's name. */
static size_t add_distribution(owners *o, const char *site, const char *folder)
{
    char *path = cli_format("%s/%s/METADATA", site, folder), *text = path ? tree_read(o->root, path, RECORD_AT_MOST, NULL) : NULL;
    char *package = owner_metadata_field(text, "Name", 0), *version = owner_metadata_field(text, "Version", 0);
    const char *dash = strchr(folder, '-');
    size_t who;

    if (!package)
        package = cli_format("%.*s", (int)(dash ? dash - folder : (long)strlen(folder)), folder);
    if (!version && dash)
        version = cli_format("%.*s", (int)(strlen(dash + 1) - strlen(".dist-info")), dash + 1);
    who = add_owner(o, "wheel", package ? package : folder, version, site);
    free(package);
    free(version);
    free(text);
    free(path);
    return who;
}

static void read_site(owners *o, const char *site)
{
    tree_list list = tree_entries(o->root, site, NAMES_AT_MOST);

    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.entries[i].name;
        char *path = ends_with(name, ".dist-info") ? cli_format("%s/%s/RECORD", site, name) : NULL;
        char *text = path ? tree_read(o->root, path, RECORD_AT_MOST, NULL) : NULL;

        if (text && strstr(text, "cudnn")) {
            size_t who = add_distribution(o, site, name);

            each_line(o, text, site, &who, record_line);
        }
        free(text);
        free(path);
    }
    tree_list_free(&list);
}

/* Every quoted word that names a library of cuDNN; the list of paths has them relative to the environment. */
static void conda_words(owners *o, char *text, const char *env, size_t who)
{
    for (char *at = text; (at = strstr(at, "cudnn")) != NULL;) {
        char *start = at, *end = at + strcspn(at, "\"\n"), *path;

        while (start > text && start[-1] != '"' && start[-1] != '\n')
            start--;
        at = *end ? end + 1 : end;
        if (*end != '"' || start == text || start[-1] != '"')
            continue;
        *end = 0;
        if (!is_kept(start) || *start == '/')
            continue;
        path = tree_join(env, start);
        add_entry(o, path ? tree_real_parent(o->root, path) : NULL, who);
        free(path);
    }
}

static void read_conda(owners *o, const char *env)
{
    char *meta = tree_join(env, "conda-meta");
    tree_list list = meta ? tree_entries(o->root, meta, NAMES_AT_MOST) : (tree_list){NULL, 0};

    for (size_t i = 0; i < list.count; i++) {
        char *name = list.entries[i].name, *path = ends_with(name, ".json") ? tree_join(meta, name) : NULL, *build, *version;
        char *text = path ? tree_read(o->root, path, RECORD_AT_MOST, NULL) : NULL;

        free(path);
        if (text && strstr(text, "libcudnn")) {
            name[strlen(name) - 5] = 0;
            build = strrchr(name, '-');
            if (build)
                *build = 0;
            version = build ? strrchr(name, '-') : NULL;
            if (version)
                *version++ = 0;
            conda_words(o, text, env, add_owner(o, "conda", name, version, env));
        }
        free(text);
    }
    tree_list_free(&list);
    free(meta);
}

void owners_take(owners *o, const char *kind, const char *place, char *text)
{
    size_t who = OWNER_NONE;

    if (strcmp(kind, "dpkg") == 0 || strcmp(kind, "rpm") == 0) {
        each_line(o, text, place, &who, strcmp(kind, "rpm") == 0 ? rpm_line : dpkg_line);
        return;
    }
    who = add_owner(o, strcmp(kind, "conda") == 0 ? "conda" : "wheel", "fuzz", NULL, place);
    if (strcmp(kind, "conda") == 0)
        conda_words(o, text, place, who);
    else
        each_line(o, text, place, &who, record_line);
}

void owners_begin(owners *o, const char *root)
{
    *o = (owners){.root = root};
}

void owners_end(owners *o)
{
    for (size_t i = 0; i < o->count; i++) {
        free(o->items[i]->package);
        free(o->items[i]->version);
        free(o->items[i]->place);
        free(o->items[i]);
    }
    for (size_t i = 0; i < o->entry_count; i++)
        free(o->entries[i].path);
    for (size_t i = 0; i < o->read.count; i++)
        free(o->read.items[i]);
    for (size_t i = 0; i < o->asked.count; i++)
        free(o->asked.items[i]);
    free(o->asked.items);
    free(o->items);
    free(o->entries);
    free(o->read.items);
}

/* Our store keeps each build in a folder of its own: PREFIX/opt/cudnn/BUILD/lib, PREFIX being /usr/local or ~/.local. */
static void read_store(owners *o, const discover_dir *dir)
{
    static const char machine[] = "/usr/local/opt/cudnn/", user[] = "/.local/opt/cudnn/";
    const char *at = strstr(dir->path, user), *build = at ? at + strlen(user) : dir->path + strlen(machine);
    char *name;
    size_t who;

    if (!at && strncmp(dir->path, machine, strlen(machine)) != 0)
        return;
    name = cli_format("%.*s", (int)strcspn(build, "/"), build);
    if (!name)
        return;
    who = add_owner(o, "anydnn", name, NULL, NULL);
    for (size_t i = 0; i < dir->count; i++)
        add_entry(o, tree_join(dir->path, dir->files[i].name), who);
    free(name);
}

static void read_records(owners *o, const discover_dir *dir)
{
    const char *place = dir->base ? dir->base : dir->path;

    if (discover_names_add(&o->read, "dpkg"))
        read_dpkg(o);
    if (!discover_names_add(&o->read, place))
        return;
    if (dir->base && dir->in_conda)
        read_conda(o, dir->base);
    else if (dir->base)
        read_site(o, dir->base);
    else
        read_store(o, dir);
    if (!dir->base)
        read_rpm_folder(o, dir);
}

static const owner *look_up(const owners *o, const char *real)
{
    for (size_t i = 0; i < o->entry_count; i++)
        if (strcmp(o->entries[i].path, real) == 0)
            return o->items[o->entries[i].owner];
    return NULL;
}

const owner *owner_of(owners *o, const discover_dir *dir, const char *path)
{
    char *real = tree_real_parent(o->root, path);
    const owner *found;

    read_records(o, dir);
    found = real ? look_up(o, real) : NULL;
    if (real && !found && is_kept(real) && discover_names_add(&o->asked, real)) {
        read_rpm(o, &real, 1);
        found = look_up(o, real);
    }
    free(real);
    return found;
}

bool owner_is_system(const owner *who)
{
    return who && (strcmp(who->kind, "dpkg") == 0 || strcmp(who->kind, "rpm") == 0);
}

char *owner_remove_command(const owner *who)
{
    const char *lib;

    if (strcmp(who->kind, "dpkg") == 0)
        return cli_format("apt-get remove %s", who->package);
    if (strcmp(who->kind, "rpm") == 0)
        return cli_format("dnf remove %s", who->package);
    if (strcmp(who->kind, "conda") == 0)
        return cli_format("conda remove --prefix '%s' %s", who->place, who->package);
    if (strcmp(who->kind, "wheel") == 0 && (lib = strstr(who->place, "/lib/python")) != NULL && ends_with(who->place, "/site-packages"))
        return cli_format("'%.*s/bin/python3' -m pip uninstall %s", (int)(lib - who->place), who->place, who->package);
    if (strcmp(who->kind, "wheel") == 0)
        return cli_format("python3 -m pip uninstall %s", who->package);
    return cli_format("anydnn uninstall %s", who->package);
}

char *owner_text(const owner *who)
{
    return cli_format("%s%s%s (%s)", who->package, who->version ? " " : "", who->version ? who->version : "", who->kind);
}
