/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Copies beside each other (the same build twice, two Python distributions, ...) and headers beside libraries. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_AT_MOST = 4 << 20 };

/* The file of a copy that programs ask for; NULL where only parts are there. */
static const check_file *main_file(const check_copy *copy)
{
    for (size_t i = 0; i < copy->count; i++)
        if (!*copy->files[i].name->parts.part && copy->files[i].file)
            return &copy->files[i];
    return NULL;
}

/* One build in two files, as far as size and build id tell. */
static bool same_bytes(const check_file *a, const check_file *b)
{
    if (!a || !b || (a->name->look.device == b->name->look.device && a->name->look.inode == b->name->look.inode))
        return false;
    return a->file->size == b->file->size && a->file->build_id_size == b->file->build_id_size &&
           (a->file->build_id_size == 0 || memcmp(a->file->build_id, b->file->build_id, a->file->build_id_size) == 0);
}

static unsigned long long bytes_of(const check_copy *copy)
{
    unsigned long long sum = 0;

    for (size_t i = 0; i < copy->count; i++)
        if (copy->files[i].file && !copy->files[i].name->link)
            sum += copy->files[i].file->size;
    return sum;
}

static bool is_duplicate(const check_copy *a, const check_copy *b)
{
    return a->dir != b->dir && a->abi == b->abi && a->is_dll == b->is_dll && a->version && a->version == b->version && same_bytes(main_file(a), main_file(b));
}

/* One finding for all copies of one build; the first stands for them. */
static void judge_duplicates(check *k, size_t first)
{
    const check_copy *a = &k->copies[first], *used = a->is_used ? a : NULL;
    unsigned long long bytes = 0;
    size_t count = 1;
    cJSON *where;
    char text[32], *why;

    for (size_t i = 0; i < first; i++)
        if (is_duplicate(&k->copies[i], a))
            return;
    for (size_t i = first + 1; i < k->copy_count; i++)
        if (is_duplicate(a, &k->copies[i])) {
            count++;
            bytes += bytes_of(&k->copies[i]);
            used = used || !k->copies[i].is_used ? used : &k->copies[i];
        }
    if (count == 1)
        return;
    why = used ? cli_format("the one in %s is loaded, the others only take space", used->dir->path) : cli_format("no program that was looked at loads one of them");
    where = check_finding(k, CLI_NOTE, "duplicate", cli_format("cuDNN %s is installed %zu times; %llu bytes for the others", cli_version_text(a->version, text), count, bytes),
                          why ? why : "", NULL, a->dir->path);
    free(why);
    for (size_t i = first + 1; i < k->copy_count; i++)
        if (is_duplicate(a, &k->copies[i]))
            cli_where(where, k->copies[i].dir->path);
}

static void judge_owners(check *k, const check_copy *a, const check_copy *b)
{
    char *first = owner_text(a->owner), *second = owner_text(b->owner), one[32], two[32];
    bool differ = a->version != b->version;
    cJSON *where = check_finding(k, differ ? CLI_WARNING : CLI_NOTE, "two-owners",
                                 cli_format("two distributions of one Python bring cuDNN: %s has %s, %s has %s", first, cli_version_text(a->version, one),
                                            second, cli_version_text(b->version, two)),
                                 "which one a process gets depends on what is imported first; the second import then meets libraries of the other version",
                                 owner_remove_command(a->version < b->version ? a->owner : b->owner), a->dir->path);

    cli_where(where, b->dir->path);
    free(second);
    free(first);
}

/* nvidia-cudnn-cu12 and -cu13 own the same paths: what is there is what was installed last. */
static void judge_shared(check *k, const check_copy *copy)
{
    const check_file *file = main_file(copy);
    char *path = file && copy->owner && strcmp(copy->owner->kind, "wheel") == 0 ? tree_join(copy->dir->path, file->name->name) : NULL;
    const owner *other = NULL;

    for (size_t i = 0; path && !other && i < k->owners.entry_count; i++)
        if (strcmp(k->owners.entries[i].path, path) == 0 && strcmp(k->owners.items[k->owners.entries[i].owner]->package, copy->owner->package) != 0)
            other = k->owners.items[k->owners.entries[i].owner];
    if (other) {
        char *one = owner_text(copy->owner), *two = owner_text(other), *remove = owner_remove_command(other);

        check_finding(k, CLI_WARNING, "two-owners", cli_format("two distributions own the same files of cuDNN: %s and %s", one, two),
                      "the one that was installed last wrote over the files of the other; removing either takes them away from both",
                      cli_format("%s %s, then install the one that the frameworks here need", remove, copy->owner->package), path);
        free(remove);
        free(two);
        free(one);
    }
    free(path);
}

void check_pairs(check *k)
{
    for (size_t i = 0; i < k->copy_count; i++) {
        judge_duplicates(k, i);
        judge_shared(k, &k->copies[i]);
        for (size_t j = i + 1; j < k->copy_count; j++) {
            const check_copy *a = &k->copies[i], *b = &k->copies[j];

            if (a->dir != b->dir && a->abi == b->abi && a->is_dll == b->is_dll && a->owner && b->owner && a->owner != b->owner && a->owner->place &&
                b->owner->place && strcmp(a->owner->place, b->owner->place) == 0 && strcmp(a->owner->kind, "wheel") == 0 && !a->files[0].name->mangled &&
                !b->files[0].name->mangled)
                judge_owners(k, a, b);
        }
    }
}

/* Version in a header folder: of cudnn.h, or of the file that it includes. *path: the file with the numbers; *lacks: cudnn.h wants a
 * cudnn_version.h that is not there. */
static int header_version(check *k, const char *dir, char **path, bool *lacks)
{
    static const char *const names[] = {"cudnn.h", "cudnn_version.h", "cudnn_v9.h", "cudnn_version_v9.h", "cudnn_v8.h", "cudnn_version_v8.h"};
    int version = 0;

    *path = NULL;
    *lacks = false;
    for (size_t i = 0; !version && i < sizeof names / sizeof *names; i++) {
        char *file = tree_join(dir, names[i]);
        size_t size = 0;
        char *text = file ? tree_read(k->c->root, file, HEADER_AT_MOST, &size) : NULL;
        bool includes = false;

        if (text)
            version = cli_header_version(text, size, &includes);
        *lacks = *lacks || (text && !version && includes);
        if (version || (includes && !*path)) {
            free(*path);
            *path = file;
            file = NULL;
        }
        free(text);
        free(file);
    }
    *lacks = *lacks && !version;
    return version;
}

typedef struct header_place {
    char *dir, *path;
    int version;
} header_place;

static header_place look_for_header(check *k, const char *dir)
{
    header_place place = {NULL, NULL, 0};
    bool lacks;
    char *real = tree_real(k->c->root, dir);

    if (!real)
        return place;
    place.version = header_version(k, real, &place.path, &lacks);
    if (lacks && place.path && discover_names_add(&k->headers_told, place.path))
        check_finding(k, CLI_ERROR, "header-incomplete", cli_format("cudnn.h is here without the version: cudnn_version.h is missing"),
                      "Since cuDNN 8 the numbers stand in cudnn_version.h, which cudnn.h includes. A build stops there, and finders say \"Found cuDNN: v?\".",
                      cli_format("copy all of the package's cudnn*.h, not only cudnn.h"), place.path);
    if (place.version) {
        place.dir = real;
        return place;
    }
    free(place.path);
    free(real);
    place.path = NULL;
    return place;
}

/* The header folder that goes with a library folder: PREFIX/lib -> PREFIX/include, lib/x86_64-linux-gnu and bin/x64 -> ../../include, the
 * bin/12.9 of the Windows installer -> ../../include/12.9. */
static header_place header_beside(check *k, const check_copy *copy)
{
    const char *path = copy->dir->path, *last = cli_base_name(path);
    bool deep = strstr(last, "linux-gnu") || strcmp(last, "x64") == 0;
    char *tries[] = {cli_format("%s/../include", path), cli_format("%s/../../include%s%s", path, deep ? "" : "/", deep ? "" : last),
                     cli_format("%s/../../include/%s", path, last), cli_format("%s", path)};
    header_place place = {NULL, NULL, 0};

    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        if (tries[i] && !place.version)
            place = look_for_header(k, tries[i]);
        free(tries[i]);
    }
    return place;
}

/* Major or newer header: what is built may not run. Minor: programs that compare the numbers refuse. Patch level: compatible. */
static cli_severity mismatch_severity(int header, int library)
{
    if (cli_version_major(header) != cli_version_major(library) || header / 100 > library / 100)
        return CLI_ERROR;
    return header / 100 != library / 100 ? CLI_WARNING : CLI_NOTE;
}

static void judge_pair(check *k, const check_copy *copy, const header_place *header)
{
    char one[32], two[32];
    const check_file *library = main_file(copy);
    cJSON *where = check_finding(k, mismatch_severity(header->version, copy->version), "header-mismatch",
                                 cli_format("The header says %s (%s), the library is %s (%s)", cli_version_text(header->version, one), header->path,
                                            cli_version_text(copy->version, two), library && library->name->real ? library->name->real : copy->dir->path),
                                 "This header is the first that a compiler finds, this library the first that the loader finds: programs are built for one "
                                 "version and run with another.",
                                 cli_format("install header and library from one package; then: rm '%s'", header->path), header->path);

    cli_where(where, library && library->name->real ? library->name->real : copy->dir->path);
}

static void describe_header(cJSON *list, const header_place *place)
{
    cJSON *item = cJSON_CreateObject();
    char text[32];

    cJSON_AddStringToObject(item, "path", place->path);
    cJSON_AddStringToObject(item, "version", cli_version_text(place->version, text));
    cJSON_AddItemToArray(list, item);
}

static void free_place(header_place *place)
{
    free(place->dir);
    free(place->path);
}

/* Two majors side by side share one set of headers; it belongs to the copy of its own version. */
static bool belongs_to_other(const check *k, const check_copy *copy, int header)
{
    for (size_t i = 0; i < k->copy_count; i++)
        if (k->copies[i].is_used && k->copies[i].version == header && cli_version_major(header) != cli_version_major(copy->version))
            return true;
    return false;
}

/* Copies that programs would load, outside of Python packages and environments, against the first header of a compiler. */
static void judge_used(check *k, const header_place *first)
{
    for (size_t i = 0; i < k->copy_count && first->version; i++) {
        const check_copy *copy = &k->copies[i];
        header_place beside;

        if (!copy->is_used || copy->dir->base || copy->is_dll || !copy->version || copy->version == first->version ||
            belongs_to_other(k, copy, first->version))
            continue;
        beside = header_beside(k, copy);
        /* inspect's rule speaks of a header that lies in the library's own prefix. */
        if (!beside.version || strcmp(beside.path, first->path) != 0)
            judge_pair(k, copy, first);
        free_place(&beside);
    }
}

/* Headers in the order of a compiler: the first wins, and is held against the library that a linker finds first. */
static void judge_order(check *k)
{
    cJSON *list = cJSON_AddArrayToObject(k->report.json, "headers"), *where;
    header_place first = {NULL, NULL, 0};

    for (size_t i = 0; i < k->found.headers.count; i++) {
        header_place place = look_for_header(k, k->found.headers.items[i]);
        char one[32], two[32];

        if (!place.version)
            continue;
        describe_header(list, &place);
        if (!first.version) {
            first = place;
            continue;
        }
        if (strcmp(first.path, place.path) != 0 && first.version != place.version) {
            where = check_finding(k, first.version < place.version ? CLI_WARNING : CLI_NOTE, "shadowed-header",
                                  cli_format("%s (%s) comes before %s (%s)", first.path, cli_version_text(first.version, one), place.path,
                                             cli_version_text(place.version, two)),
                                  "a compiler takes the first folder that has cudnn.h: /usr/local/include, then /usr/include",
                                  cli_format("remove the one that is not meant, or put the folder first: -I%s", place.dir), first.path);
            cli_where(where, place.path);
        }
        free_place(&place);
    }
    judge_used(k, &first);
    free_place(&first);
}

void check_headers(check *k)
{
    for (size_t i = 0; i < k->copy_count; i++) {
        const check_copy *copy = &k->copies[i];
        header_place place = header_beside(k, copy);
        char text[32];

        if (place.version) {
            cJSON *item = cJSON_AddObjectToObject(copy->json, "headers");

            cJSON_AddStringToObject(item, "path", place.path);
            cJSON_AddStringToObject(item, "version", cli_version_text(place.version, text));
        }
        free_place(&place);
    }
    judge_order(k);
}
