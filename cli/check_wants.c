/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Sources, best first: the Requires-Dist lines of METADATA that name nvidia-cudnn-cuNN, then the row of frameworks.tsv for the version and
 * the CUDA that the build names (torch 2.1.0+cu121, torch/version.py). */
#include "check_wants.h"
#include "facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_FILE_AT_MOST = 1 << 16 };

/* "nvidia-cudnn-cu12 (==8.9.2.26) ; marker" gives "==8.9.2.26". */
static char *from_metadata(const char *text, int *cuda)
{
    char *line, *found = NULL;

    for (size_t i = 0; !found && (line = owner_metadata_field(text, "Requires-Dist", i)) != NULL; i++) {
        const char *p = line + 15;
        size_t n;

        if (strncmp(line, "nvidia-cudnn-cu", 15) == 0) {
            *cuda = atoi(p);
            p += strspn(p, "0123456789 (");
            n = strcspn(p, " ;)");
            if (n > 2)
                found = cli_format("%.*s", (int)n, p);
        }
        free(line);
    }
    return found;
}

/* "12.1" of a local version cu121, or of the line cuda = '12.1' in torch/version.py; NULL where it is not said. */
static char *cuda_of(check *k, const check_framework *f)
{
    const char *local = strstr(f->version, "+cu");
    char *path, *text, *at, *cuda = NULL;
    size_t n = local ? strspn(local + 3, "0123456789") : 0;

    if (n >= 3)
        return cli_format("%.*s.%.*s", (int)n - 1, local + 3, 1, local + 3 + n - 1);
    path = tree_join(f->site, "torch/version.py");
    text = path && strcmp(f->name, "PyTorch") == 0 ? tree_read(k->c->root, path, VERSION_FILE_AT_MOST, NULL) : NULL;
    at = text ? strstr(text, "\ncuda") : NULL;
    at = at ? at + 1 + strcspn(at + 1, "'\n") : NULL;
    if (at && *at == '\'' && isdigit((unsigned char)at[1]))
        cuda = cli_format("%.*s", (int)strspn(at + 1, "0123456789."), at + 1);
    free(text);
    free(path);
    return cuda;
}

/* Number of version parts that row and version share when the row's are all matched; 0 where it does not match. Rows: "2.1", "1.18.1",
 * "0.4.11 - 0.4.24", "0.4.31 - 0.5.x", "jaxlib 0.1.73". */
static int row_matches(const char *row, const char *version)
{
    const char *range = strstr(row, " - ");
    int parts = 0;

    row += strcspn(row, "0123456789");
    if (range) {
        char *low = cli_format("%.*s", (int)(range - row), row), *high = cli_format("%s", range + 3), *x = high ? strchr(high, 'x') : NULL;
        bool inside;

        if (x && x > high)
            x[-1] = 0;
        /* Below 0.5.x lies every version that begins with 0.5. */
        inside = low && high && check_compare(version, low) >= 0 &&
                 (check_compare(version, high) <= 0 || (x && strncmp(version, high, strlen(high)) == 0 && version[strlen(high)] == '.'));
        free(low);
        free(high);
        return inside ? 2 : 0;
    }
    while (*row) {
        char *row_end, *version_end;

        if (strtoul(row, &row_end, 10) != strtoul(version, &version_end, 10) || row_end == row || version_end == version)
            return 0;
        parts++;
        row = *row_end == '.' ? row_end + 1 : row_end;
        version = *version_end == '.' ? version_end + 1 : version_end;
        if (*row && !isdigit((unsigned char)*row))
            break;
    }
    return parts;
}

/* The table's row; rows of one version that disagree, without a CUDA to choose by, say nothing. */
static const char *from_table(check *k, const check_framework *f, const char *cuda)
{
    const facts_table *t = cli_facts_table(k->c, "frameworks");
    bool windows = strstr(f->site, "/Lib/site-packages") != NULL, agree = true;
    const char *found = NULL;
    int best = 0;

    for (size_t i = 0; t && i < t->rows; i++) {
        const char *platform = cli_facts_cell(t, i, "platform"), *cell = cli_facts_cell(t, i, "cudnn"), *row_cuda = cli_facts_cell(t, i, "cuda");
        int parts = strcmp(cli_facts_cell(t, i, "framework"), f->name) == 0 ? row_matches(cli_facts_cell(t, i, "version"), f->version) : 0;
        bool fits = strstr(platform, windows ? "Windows" : "Linux") != NULL;

        if (!parts || !*cell || !fits || (cuda && strcmp(cuda, row_cuda) != 0) || parts < best)
            continue;
        if (parts > best || !found)
            agree = true;
        else
            agree = agree && check_wants_version(found) == check_wants_version(cell) && check_wants_major(found) == check_wants_major(cell);
        best = parts;
        found = cell;
    }
    return agree ? found : NULL;
}

void check_wants(check *k, check_framework *f, const char *metadata)
{
    char *cuda = cuda_of(k, f);
    const char *row;

    f->wants = from_metadata(metadata, &f->cuda);
    if (f->wants) {
        f->wants_how = cli_format("its METADATA");
    } else if ((row = from_table(k, f, cuda)) != NULL) {
        f->wants = cli_format("%.*s", (int)strcspn(row, " "), row);
        f->wants_how = cli_format("frameworks.tsv");
    }
    if (!f->cuda && cuda)
        f->cuda = atoi(cuda);
    f->is_cpu = strstr(f->version, "+cpu") != NULL || strstr(f->version, "+rocm") != NULL;
    free(cuda);
}

int check_wants_version(const char *wants)
{
    char text[32];
    size_t n;

    if (!wants)
        return 0;
    wants += strcspn(wants, "0123456789");
    n = strspn(wants, "0123456789.");
    if (n == 0 || n >= sizeof text)
        return 0;
    memcpy(text, wants, n);
    text[n] = 0;
    return cli_version_parse(text);
}

int check_wants_major(const char *wants)
{
    return wants ? atoi(wants + strcspn(wants, "0123456789")) : 0;
}

char *check_wants_fix(const check_framework *f)
{
    const char *wants = f->wants ? f->wants : "", *tail = "";
    int major = check_wants_major(f->wants);
    size_t n = strlen(wants), dots = 0;
    bool plain = isdigit((unsigned char)*wants);

    for (const char *p = wants; *p; p++)
        dots += *p == '.';
    if (n > 2 && strcmp(wants + n - 2, ".x") == 0)
        n -= 2;
    if (plain && dots < 3)
        tail = ".*";
    if (f->cuda)
        return cli_format("python3 -m pip install 'nvidia-cudnn-cu%d%s%.*s%s'", f->cuda, plain ? "==" : "", (int)n, wants, tail);
    return major ? cli_format("install cuDNN %s for the CUDA version of this framework", wants) : NULL;
}
