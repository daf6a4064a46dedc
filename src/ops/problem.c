/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A problem as a value: its check, its key, and its text line, printed from one table per operation (problem_fields.c) and read
 * back by problem_parse.c:
 *     conv fwd x=n16c64h56w56:f16:nhwc w=k64c64r3s3:f16:nhwc y=n16c64h54w54:f16:nhwc pad=0 str=1 dil=1 grp=1 mode=xcorr comp=f32
 * A tensor is dims:type:layout; layout is nchw (dimension order), nhwc (channel innermost) or the strides, outermost first.
 * A word that has its default value is left out of the printed line where the table says so. */
#include "ops/problem_fields.h"

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *dn_op_name(dn_op op)
{
    return (unsigned)op < DN_OP_COUNT ? dn_ops[op].name : "?";
}

const char *dn_dir_name(dn_dir dir)
{
    return (unsigned)dir < DN_DIR_COUNT ? dn_dir_words[dir] : "?";
}

dn_status dn_problem_check(const dn_problem *p)
{
    return p->op < DN_OP_COUNT ? dn_ops[p->op].check(p) : dn_fail(DN_BAD_PARAM, "operation number %d is not one of ours", p->op);
}

void dn_problem_init(dn_problem *p, dn_op op, dn_dir dir)
{
    memset(p, 0, sizeof *p);
    p->op = (uint8_t)op;
    p->dir = (uint8_t)dir;
    p->algo = -1;
}

/* --- key of the plan cache --- */

/* Four lanes of multiply and rotate over 8-byte words: the problem is about a kilobyte, hashed at every change of call. */
uint64_t dn_problem_hash(const dn_problem *p)
{
    static const uint64_t k = 0x9e3779b97f4a7c15u;
    const unsigned char *b = (const unsigned char *)p;
    uint64_t lane[4] = { 1, 2, 3, 4 };
    size_t words = sizeof *p / 8;
    for (size_t i = 0; i < words; i++) {
        uint64_t w;
        memcpy(&w, b + i * 8, 8);
        uint64_t v = (lane[i & 3] ^ w) * k;
        lane[i & 3] = v << 31 | v >> 33;
    }
    uint64_t h = 0;
    for (int i = 0; i < 4; i++)
        h = (h ^ lane[i]) * k;
    return h ^ h >> 32;
}
_Static_assert(sizeof(dn_problem) % 8 == 0, "the hash reads whole words");

bool dn_problem_equal(const dn_problem *a, const dn_problem *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* --- printing --- */

typedef struct out {
    char *buf;
    size_t size;
    int n;
} out;

DN_PRINTF(2, 3) static void put(out *o, const char *fmt, ...)
{
    size_t at = o->buf && (size_t)o->n < o->size ? (size_t)o->n : o->size;
    va_list ap;
    va_start(ap, fmt);
    o->n += vsnprintf(at < o->size ? o->buf + at : NULL, o->size - at, fmt, ap);
    va_end(ap);
}

static void print_list(out *o, const dn_problem *p, const dn_field *f)
{
    int n = dn_field_length(p, f);
    const int32_t *v = dn_field_at(p, f->offset);
    bool same = true, standard = true;
    for (int i = 0; i < n; i++) {
        same = same && v[i] == v[0];
        standard = standard && v[i] == (int32_t)f->standard;
    }
    if (standard)
        return;
    put(o, " %s=%d", f->key, v[0]);
    for (int i = 1; i < n && !same; i++)
        put(o, "x%d", v[i]);
}

static void print_field(out *o, const dn_problem *p, const dn_field *f)
{
    if (f->fused_only && p->op != DN_OP_CONV_BIAS_ACT)
        return;
    if (f->kind == DN_FIELD_SPATIAL || f->kind == DN_FIELD_DIMS) {
        print_list(o, p, f);
    } else if (f->kind == DN_FIELD_REAL) {
        double v;
        memcpy(&v, dn_field_at(p, f->offset), sizeof v);
        if (v == f->standard)
            return;
        char text[40];
        snprintf(text, sizeof text, "%.17g", v);
        for (char *c = text; *c; c++)
            if (*c == *localeconv()->decimal_point)
                *c = '.';
        put(o, " %s=%s", f->key, text);
    } else {
        int32_t v = dn_field_int(p, f->offset);
        if (v == (int32_t)f->standard)
            return;
        if (f->kind == DN_FIELD_NAME && v >= 0 && v < dn_field_names(f))
            put(o, " %s=%s", f->key, f->names[v]);
        else
            put(o, " %s=%d", f->key, v);
    }
}

/* The dimensions of a sequence are time, batch, vector. */
static void name_sequence(char *text)
{
    const char *name = "tbv";
    for (; *text != ':' && *text && *name; text++)
        if (isalpha((unsigned char)*text))
            *text = *name++;
}

int dn_problem_print(const dn_problem *p, char *buf, size_t size)
{
    out o = { buf, size, 0 };
    put(&o, "%s %s", dn_op_name((dn_op)p->op), dn_dir_name((dn_dir)p->dir));
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        char text[512];
        if (!p->t[r].rank)
            continue;
        dn_tensor_print(&p->t[r], (dn_role)r, text, sizeof text);
        if (p->op == DN_OP_RNN)
            name_sequence(text);
        put(&o, " %s=%s", dn_role_words[r], text);
        if (p->align[r] != 16)
            put(&o, "@%d", p->align[r]);
    }
    if (p->op < DN_OP_COUNT)
        for (const dn_field *f = dn_ops[p->op].fields; f->key; f++)
            print_field(&o, p, f);
    if (p->compute != DN_F32)
        put(&o, " comp=%s", dn_dtype_name((dn_dtype)p->compute));
    if (p->math)
        put(&o, " math=%s", p->math < DN_MATH_WORDS ? dn_math_words[p->math] : "?");
    if (p->algo >= 0)
        put(&o, " algo#=%d", p->algo);
    for (int i = 0; i < DN_FLAG_WORDS; i++)
        if (p->flags & dn_flag_words[i].flag)
            put(&o, " %s", dn_flag_words[i].word);
    return o.n;
}
