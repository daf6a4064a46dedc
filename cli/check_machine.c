/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Driver, CUDA toolkits, and what a GPU and a driver mean for the copies of cuDNN that were found. */
#include "check.h"
#include "facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_AT_MOST = 1 << 20 };

int check_compare(const char *a, const char *b)
{
    while (*a || *b) {
        unsigned long x = strtoul(a, NULL, 10), y = strtoul(b, NULL, 10);

        if (x != y)
            return x < y ? -1 : 1;
        a += strcspn(a, ".");
        b += strcspn(b, ".");
        a += *a == '.';
        b += *b == '.';
    }
    return 0;
}

/* The first word of digits and at least one dot in text, such as 535.54.03. The caller frees. */
static char *version_in(const char *text)
{
    for (const char *p = text; p && *p; p += strcspn(p, " \t\n"), p += strspn(p, " \t\n")) {
        size_t n = strspn(p, "0123456789.");

        if (n > 3 && isdigit((unsigned char)*p) && memchr(p, '.', n) && (p[n] == 0 || isspace((unsigned char)p[n])))
            return cli_format("%.*s", (int)n, p);
    }
    return NULL;
}

/* The kernel module speaks for itself; libcuda.so.535.54.03 carries the version in its name. */
static void find_driver(check *k)
{
    static const char *const dirs[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib",
                                       "/usr/local/nvidia/lib64"};
    static const char proc[] = "/proc/driver/nvidia/version";
    char *text = tree_read(k->c->root, proc, TEXT_AT_MOST, NULL), *kernel = NULL, *library = NULL, *path = NULL;

    if (text) {
        text[strcspn(text, "\n")] = 0;
        kernel = version_in(text);
    }
    for (size_t i = 0; !library && i < sizeof dirs / sizeof *dirs; i++) {
        char *name = tree_join(dirs[i], "libcuda.so.1");

        path = name ? tree_real(k->c->root, name) : NULL;
        if (path && strncmp(cli_base_name(path), "libcuda.so.", 11) == 0 && strlen(cli_base_name(path)) > 14)
            library = cli_format("%s", cli_base_name(path) + 11);
        else
            free(path);
        path = library ? path : NULL;
        free(name);
    }
    if (kernel && library && check_compare(kernel, library) != 0)
        cli_where(check_finding(k, CLI_ERROR, "driver-mismatch",
                                cli_format("the driver's kernel module is %s, its library libcuda is %s", kernel, library),
                                "CUDA cannot start then (\"driver/library version mismatch\"); it happens after an update without a restart",
                                cli_format("reboot"), path), proc);
    k->driver = kernel ? kernel : library;
    k->driver_how = kernel ? cli_format("%s", proc) : path;
    if (kernel)
        free(library);
    if (kernel)
        free(path);
    free(text);
}

/* Three equal files under /usr/lib/wsl/lib are how Windows shares its driver: ldconfig complains, nothing is wrong. */
static void note_wsl(check *k)
{
    static const char lib[] = "/usr/lib/wsl/lib/libcuda.so.1";

    if (tree_look(k->c->root, lib, false).kind != TREE_FILE)
        return;
    check_finding(k, CLI_NOTE, "wsl-driver-share", cli_format("the driver is the one that Windows shares with this Linux"),
                  "ldconfig says that its libcuda.so.1 is not a symbolic link: that is how Windows mounts it, and needs no repair. Its version is "
                  "that of the Windows driver", NULL, lib);
}

/* Sub-libraries of 8.x open the driver by its bare name. */
static void judge_bare_libcuda(check *k)
{
    static const char *const dirs[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib"};
    bool has_8 = false;

    for (size_t i = 0; i < k->copy_count; i++)
        has_8 = has_8 || (k->copies[i].abi == 8 && !k->copies[i].is_dll);
    for (size_t i = 0; has_8 && i < sizeof dirs / sizeof *dirs; i++) {
        char *soname = tree_join(dirs[i], "libcuda.so.1"), *bare = tree_join(dirs[i], "libcuda.so");

        if (soname && bare && tree_look(k->c->root, soname, true).kind == TREE_FILE && tree_look(k->c->root, bare, true).kind == TREE_NONE)
            check_finding(k, CLI_WARNING, "no-libcuda-link", cli_format("%s is there, the bare name libcuda.so beside it is not", soname),
                          "cuDNN 8's sub-libraries open libcuda.so by that name; what is then reported is \"Could not load library "
                          "libcudnn_cnn_infer.so.8\"",
                          cli_format("ln -s libcuda.so.1 '%s%s'", k->c->root, bare), bare);
        free(bare);
        free(soname);
    }
}

/* version.json of 11.1 and later, version.txt before, else the folder's name. */
static char *toolkit_version(const char *root, const char *path)
{
    char *json = tree_join(path, "version.json"), *text = json ? tree_read(root, json, TEXT_AT_MOST, NULL) : NULL, *version = NULL;
    cJSON *tree = text ? cJSON_Parse(text) : NULL;
    const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "cuda"), "version");
    const char *dash = strrchr(path, '-');

    if (cJSON_IsString(item))
        version = cli_format("%s", item->valuestring);
    cJSON_Delete(tree);
    free(text);
    free(json);
    if (!version) {
        json = tree_join(path, "version.txt");
        text = json ? tree_read(root, json, TEXT_AT_MOST, NULL) : NULL;
        version = text ? version_in(text) : NULL;
        free(text);
        free(json);
    }
    if (!version && !dash)
        dash = strrchr(path, 'v');
    if (!version && dash && isdigit((unsigned char)dash[1]) && dash[1 + strspn(dash + 1, "0123456789.")] == 0)
        version = cli_format("%s", dash + 1);
    return version;
}

static void find_toolkits(check *k)
{
    k->toolkits = calloc(k->found.cudas.count + 1, sizeof *k->toolkits);
    for (size_t i = 0; k->toolkits && i < k->found.cudas.count; i++) {
        const char *path = k->found.cudas.items[i];
        char *nvcc = tree_join(path, "bin/nvcc");
        check_toolkit toolkit = {.version = toolkit_version(k->c->root, path)};

        toolkit.has_nvcc = nvcc && tree_look(k->c->root, nvcc, true).kind == TREE_FILE;
        free(nvcc);
        if (!toolkit.version && !toolkit.has_nvcc)
            continue;
        toolkit.path = cli_format("%s", path);
        k->toolkits[k->toolkit_count++] = toolkit;
    }
}

/* Row of cudnn_releases for a version and CUDA major (0: the first of that version); rows where there is none. */
static size_t release_row(const facts_table *t, int version, int cuda)
{
    size_t first = t->rows;

    for (size_t i = 0; i < t->rows; i++) {
        if (atoi(cli_facts_cell(t, i, "cudnnGetVersion")) != version)
            continue;
        if (cuda == 0 || atoi(cli_facts_cell(t, i, "cuda")) == cuda)
            return i;
        if (first == t->rows)
            first = i;
    }
    return first;
}

/* ">=525.60.13" or "r440 (CUDA 10.2)": the number; "" for anything else. */
static void driver_floor(const char *cell, char *out, size_t size)
{
    const char *digits = strncmp(cell, ">=", 2) == 0 ? cell + 2 : *cell == 'r' ? cell + 1 : cell;

    snprintf(out, size, "%.*s", (int)strspn(digits, "0123456789."), digits);
}

/* The driver that the copy's CUDA asks for, "" where it is not known. Notes name a later one for Blackwell: "driver >=570.26 Linux". */
static void floor_of(check *k, const check_copy *copy, char *out, size_t size)
{
    const facts_table *t = cli_facts_table(k->c, "cudnn_releases"), *cuda = cli_facts_table(k->c, "cuda_drivers");
    size_t row = t ? release_row(t, copy->version, copy->cuda) : 0;
    bool is_known = t && row < t->rows;
    const char *notes = is_known ? cli_facts_cell(t, row, "notes") : "", *later = k->gpu >= 100 ? strstr(notes, "driver >=") : NULL;

    driver_floor(later ? later + 7 : is_known ? cli_facts_cell(t, row, "min_driver_linux") : "", out, size);
    for (size_t i = 0; cuda && copy->cuda && !*out && i < cuda->rows; i++)
        if (atoi(cli_facts_cell(cuda, i, "cuda")) == copy->cuda)
            driver_floor(cli_facts_cell(cuda, i, "min_driver_linux_minor_compat"), out, size);
}

static void judge_driver(check *k, const check_copy *copy)
{
    char text[32], floor[32];

    floor_of(k, copy, floor, sizeof floor);
    if (!k->driver || copy->is_dll || !*floor || check_compare(k->driver, floor) >= 0)
        return;
    check_finding(k, CLI_ERROR, "driver-too-old",
                  cli_format("driver %s is too old for cuDNN %s%s%.0d: %s or later is needed", k->driver, cli_version_text(copy->version, text),
                             copy->cuda ? " for CUDA " : "", copy->cuda, floor),
                  "every CUDA call answers cudaErrorInsufficientDriver (\"CUDA driver version is insufficient for CUDA runtime version\")",
                  cli_format("install a driver of version %s or later, or a cuDNN for an older CUDA", floor), copy->dir->path);
}

/* The newest capability of the GPUs that "and later (Kepler..Ampere)" names. */
static int last_of(const char *cell)
{
    static const struct { const char *name; int capability; } names[] = {{"Hopper", 90}, {"Ampere", 87}, {"Turing", 75}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(cell, names[i].name))
            return names[i].capability;
    return 75; /* "3.0 and later" of the first rows: CUDA 10 */
}

/* A list such as "7.5 8.0 8.6" or "3.5 and later (...)". A GPU runs what was built for the same major and an equal or lower minor number. */
static bool gpu_in(const char *cell, int gpu)
{
    bool later = strstr(cell, "and later") != NULL;

    for (const char *p = cell; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        char *end;
        long major = strtol(p, &end, 10), minor;

        if (end == p || *end != '.')
            continue;
        minor = strtol(end + 1, NULL, 10);
        if (later)
            return gpu >= major * 10 + minor && gpu <= last_of(cell);
        if (gpu / 10 == major && gpu % 10 >= minor)
            return true;
    }
    return false;
}

static void judge_gpu(check *k, const check_copy *copy)
{
    const facts_table *t = cli_facts_table(k->c, "cudnn_releases");
    size_t row = t ? release_row(t, copy->version, copy->cuda) : 0;
    const char *list = t && row < t->rows ? cli_facts_cell(t, row, "compute_capabilities") : "";
    int last = 0, first = 0;
    char text[32], other[32];

    if (!*list || !isdigit((unsigned char)*list) || gpu_in(list, k->gpu))
        return;
    for (size_t i = 0; i < t->rows; i++) {
        int version = atoi(cli_facts_cell(t, i, "cudnnGetVersion"));

        if (!gpu_in(cli_facts_cell(t, i, "compute_capabilities"), k->gpu))
            continue;
        last = version > last ? version : last;
        first = !first || version < first ? version : first;
    }
    cli_version_text(first > copy->version ? first : last, other);
    check_finding(k, CLI_ERROR, "gpu-not-supported",
                  cli_format("cuDNN %s does not support compute capability %d.%d", cli_version_text(copy->version, text), k->gpu / 10, k->gpu % 10),
                  "it was built for other GPUs: calls answer CUDNN_STATUS_ARCH_MISMATCH, or there is no kernel image for the device",
                  !*other ? cli_format("no cuDNN of the release table supports it")
                          : cli_format("install cuDNN %s: the %s version with this GPU", other, first > copy->version ? "first" : "last"),
                  copy->dir->path);
}

static void describe(check *k)
{
    cJSON *driver = cJSON_AddObjectToObject(k->report.json, "driver"), *list = cJSON_AddArrayToObject(k->report.json, "toolkits");

    cJSON_AddItemToObject(driver, "version", k->driver ? cJSON_CreateString(k->driver) : cJSON_CreateNull());
    cJSON_AddItemToObject(driver, "known_by", k->driver_how ? cJSON_CreateString(k->driver_how) : cJSON_CreateNull());
    for (size_t i = 0; i < k->toolkit_count; i++) {
        cJSON *item = cJSON_CreateObject();

        cJSON_AddStringToObject(item, "path", k->toolkits[i].path);
        cJSON_AddItemToObject(item, "version", k->toolkits[i].version ? cJSON_CreateString(k->toolkits[i].version) : cJSON_CreateNull());
        cJSON_AddBoolToObject(item, "nvcc", k->toolkits[i].has_nvcc);
        cJSON_AddItemToArray(list, item);
    }
}

void check_machine(check *k)
{
    char *version;

    find_driver(k);
    note_wsl(k);
    find_toolkits(k);
    describe(k);
    judge_bare_libcuda(k);
    for (size_t i = 0; i < k->copy_count; i++) {
        if (k->copies[i].version == 0 || k->copies[i].is_ours)
            continue;
        judge_driver(k, &k->copies[i]);
        if (k->gpu)
            judge_gpu(k, &k->copies[i]);
    }
    version = owner_dpkg_version(k->c->root, "nvidia-cudnn");
    if (version)
        check_finding(k, CLI_WARNING, "nvidia-cudnn-package", cli_format("the package nvidia-cudnn %s is installed", version),
                      "it downloads cuDNN and copies it into /usr; when it is removed or configured again it deletes libcudnn* there, whoever put them",
                      cli_format("put other copies into a folder outside /usr first, then: apt-get purge nvidia-cudnn"), "/var/lib/dpkg/info/nvidia-cudnn.list");
    free(version);
}
