/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the problem line: no text may crash the parser, and what it accepts must print to a line that parses to the same. A
 * problem that parses is also asked of every row of the ref engine: check and workspace must bear whatever passes the parser. */
#include "core/engine.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_and_parse(const dn_problem *p)
{
    char text[4096];
    dn_problem q;
    if (dn_problem_print(p, text, sizeof text) >= (int)sizeof text)
        return;
    if (dn_problem_parse(text, &q) != DN_SUCCESS || !dn_problem_equal(p, &q))
        abort();
}

/* A row that takes the problem once must take it again, with the same workspace: both depend on nothing but the problem. */
static void ask_rows(const dn_problem *p)
{
    const dn_solver *s;
    for (int i = 0; (s = dn_solver_at(&dn_ref_engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++) {
        const char *why = dn_solver_refuses(s, p);
        if (why != dn_solver_refuses(s, p))
            abort();
        if (!why && s->workspace && s->workspace(p) != s->workspace(p))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1);
    if (!line)
        return 0;
    memcpy(line, data, size);
    line[size] = 0;
    dn_problem p;
    if (dn_problem_parse(line, &p) == DN_SUCCESS) {
        print_and_parse(&p);
        ask_rows(&p);
    }
    free(line);
    return 0;
}
