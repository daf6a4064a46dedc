/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What people get wrong in LD_LIBRARY_PATH: the loader splits at colons and semicolons and takes the rest letter by letter. It knows no quotes,
 * no backslashes, no ~ and no variables but its own three; an empty element is the current directory. */
#include "variable.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fault {
    const char *what, *why;
} fault;

static bool is_loader_variable(const char *at)
{
    static const char *const names[] = { "ORIGIN", "LIB", "PLATFORM" };

    at += *at == '{';
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(names[i]);
        char next = at[n < strlen(at) ? n : strlen(at)];

        if (strncmp(at, names[i], n) == 0
            && !((next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z') || (next >= '0' && next <= '9') || next == '_'))
            return true;
    }
    return false;
}

static const fault *judge(const char *element)
{
    static const fault faults[] = {
        { "an empty element",
          "The loader takes an empty element as the current directory, so any folder you stand in can bring in a library." },
        { "a quotation mark", "The loader takes the mark as part of the directory's name, so this directory is not searched." },
        { "a variable that no shell has replaced",
          "The loader knows only $ORIGIN, $LIB and $PLATFORM; the rest of the text is taken letter by "
          "letter, so this directory is not searched." },
        { "a backslash", "The loader takes the backslash as part of the directory's name, so this directory is not searched." },
        { "a ~ that no shell has replaced", "The loader does not know ~: it looks for a directory of that name in the current directory." },
        { "a space at an end", "The loader takes the space as part of the directory's name, so this directory is not searched." },
        { "an equals sign at its start",
          "That is what `export LD_LIBRARY_PATH = ...` with spaces leaves behind: the shell takes no spaces there." },
        { "a relative directory",
          "It is looked for in the directory that the program is started in, so what is loaded depends on where you stand." },
    };
    size_t n = strlen(element);
    const char *dollar;

    if (n == 0)
        return &faults[0];
    if (strpbrk(element, "\"'"))
        return &faults[1];
    for (dollar = strchr(element, '$'); dollar; dollar = strchr(dollar + 1, '$'))
        if (!is_loader_variable(dollar + 1))
            return &faults[2];
    if (strchr(element, '\\'))
        return &faults[3];
    if (element[0] == '~')
        return &faults[4];
    if (element[0] == ' ' || element[n - 1] == ' ' || element[n - 1] == '\t' || element[n - 1] == '\n' || element[n - 1] == '\r')
        return &faults[5];
    if (element[0] == '=')
        return &faults[6];
    return element[0] != '/' && element[0] != '$' ? &faults[7] : NULL;
}

/* The element as it was probably meant, "" where it should go. */
static char *mend(const char *element)
{
    const char *home = getenv("HOME");
    char *out = element[0] == '~' && (element[1] == '/' || !element[1]) ? cli_format("%s%s", home ? home : "$HOME", element + 1)
                                                                        : strdup(element),
         *to = out;

    for (char *from = out; out && *from; from++) {
        if (*from == '$' && !is_loader_variable(from + 1))
            break;
        if (*from == '\\' && (from[1] == '$' || from[1] == 0))
            break;
        if (!strchr("\"'\\ \t\n\r=", *from))
            *to++ = *from;
    }
    if (out)
        *to = 0;
    if (out && *out != '/' && *out != '$')
        *out = 0;
    return out;
}

static char *mended_list(const char *list)
{
    char *out = strdup("");

    for (const char *at = list; out;) {
        size_t n = strcspn(at, ":;");
        char *element = cli_format("%.*s", (int)n, at), *good = element ? mend(element) : NULL, *more;

        more = cli_format("%s%s%s", out, *out && good && *good ? ":" : "", good ? good : "");
        free(element);
        free(good);
        free(out);
        out = more;
        at += n;
        if (!*at++)
            break;
    }
    return out;
}

static void add(cli_report *report, const char *variable, const fault *f, const char *element, int position, const char *mended)
{
    char *what =
        cli_format("Element %d of %s is %s%s%s%s.", position, variable, f->what, *element ? ": \"" : "", element, *element ? "\"" : "");
    char *fix = *mended ? cli_format("export %s='%s'", variable, mended) : cli_format("unset %s", variable);
    cJSON *where = cli_finding(report, CLI_WARNING, "bad-path-element", what, f->why, fix);

    cli_where(where, element);
    free(what);
    free(fix);
}

void variable_check(cli_report *report, const char *root, const char *variable, const char *list)
{
    char *mended;
    int position = 0;

    if (!*list) {
        char *what = cli_format("%s is set but empty.", variable), *fix = cli_format("unset %s", variable);

        cli_finding(report, CLI_NOTE, "path-empty", what,
                    "The loader treats it as not set. `export LD_LIBRARY_PATH = /dir`, with spaces, can leave it so: the shell takes "
                    "no spaces around the equals sign.",
                    fix);
        free(what);
        free(fix);
        return;
    }
    mended = mended_list(list);
    for (const char *at = list; mended;) {
        size_t n = strcspn(at, ":;");
        char *element = cli_format("%.*s", (int)n, at);
        const fault *f = element ? judge(element) : NULL;

        position++;
        if (f) {
            add(report, variable, f, element, position, mended);
        } else if (element && *element == '/' && !strchr(element, '$') && tree_look(root, element, true).kind != TREE_DIR) {
            char *what = cli_format("Element %d of %s is no directory: \"%s\".", position, variable, element);

            cli_where(cli_finding(report, CLI_NOTE, "path-missing", what, "The loader passes it by.", NULL), element);
            free(what);
        }
        free(element);
        at += n;
        if (!*at++)
            break;
    }
    free(mended);
}
