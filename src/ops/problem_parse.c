/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A problem out of its text line (src/ops/problem.c says how that is written). Every word is checked, nothing is guessed. */
#include "ops/problem_fields.h"

#include "ops/rnn.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

typedef struct word {
    const char *s;
    size_t len;
} word;

static bool word_is(word w, const char *text)
{
    return strlen(text) == w.len && memcmp(w.s, text, w.len) == 0;
}

static dn_status refuse(word w, const char *rule)
{
    return dn_fail(DN_BAD_PARAM, "problem line: '%.*s': %s", (int)(w.len > 80 ? 80 : w.len), w.s, rule);
}

static int find_word(word w, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (word_is(w, names[i]))
            return i;
    return -1;
}

/* Takes a decimal integer from the front of w. */
static bool take_int(word *w, int64_t *v)
{
    size_t i = w->len && *w->s == '-';
    bool negative = i > 0;
    int64_t n = 0;
    size_t first = i;
    for (; i < w->len && isdigit((unsigned char)w->s[i]); i++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, w->s[i] - '0', &n))
            return false;
    if (i == first)
        return false;
    *v = negative ? -n : n;
    w->s += i;
    w->len -= i;
    return true;
}

static bool take_char(word *w, char c)
{
    if (!w->len || *w->s != c)
        return false;
    w->s++;
    w->len--;
    return true;
}

/* Integers with a separator between; 0 where the text is none or more than max. */
static int take_list(word *w, char separator, int64_t *v, int max)
{
    int n = 0;
    do {
        if (n == max || !take_int(w, &v[n]))
            return 0;
        n++;
    } while (take_char(w, separator));
    return n;
}

static bool take_dims(word *w, dn_tensor *t)
{
    int64_t v[DN_RANK_MAX];
    if (w->len && isalpha((unsigned char)*w->s)) {
        int n = 0;
        while (w->len && isalpha((unsigned char)*w->s)) {
            w->s++;
            w->len--;
            if (n == DN_RANK_MAX || !take_int(w, &v[n++]))
                return false;
        }
        t->rank = (uint8_t)n;
    } else {
        t->rank = (uint8_t)take_list(w, 'x', v, DN_RANK_MAX);
    }
    for (int i = 0; i < t->rank; i++) {
        if (v[i] < 1)
            return false;
        t->dims[i] = v[i];
    }
    return t->rank > 0;
}

static bool take_layout(word w, dn_tensor *t)
{
    if (!w.len || word_is(w, "nchw"))
        return dn_tensor_pack(t);
    if (word_is(w, "nhwc"))
        return dn_tensor_pack_nhwc(t);
    return take_list(&w, ',', t->strides, DN_RANK_MAX) == t->rank && !w.len;
}

static dn_status parse_tensor(word whole, word w, dn_problem *p, int role)
{
    dn_tensor *t = &p->t[role];
    if (t->rank)
        return refuse(whole, "this tensor was given already");
    if (!take_dims(&w, t) || !take_char(&w, ':'))
        return refuse(whole, "a tensor is dims:type:layout, as n1c8h4w4:f32:nchw");
    for (int i = 0; role == DN_W && i < t->rank; i++)
        if (t->dims[i] > INT32_MAX)
            return refuse(whole, "a filter's dimension does not fit 32 bits");
    if (!dn_tensor_countable(t))
        return refuse(whole, "the tensor has more than 2^52 elements");
    word type = { w.s, 0 };
    while (w.len && *w.s != ':' && *w.s != '@') {
        w.s++;
        w.len--;
        type.len++;
    }
    int dtype = dn_dtype_parse(type.s, type.len);
    if (dtype < 0)
        return refuse(whole, "no such type; f32, f64, f16, bf16, i8, u8, i32, ...");
    t->type = (uint8_t)dtype;
    t->vect = (uint8_t)dn_dtype_vector((dn_dtype)dtype);
    t->vect_dim = t->vect > 1;
    word layout = { "", 0 };
    if (take_char(&w, ':')) {
        layout.s = w.s;
        while (w.len && *w.s != '@') {
            w.s++;
            w.len--;
            layout.len++;
        }
    }
    if (!take_layout(layout, t))
        return refuse(whole, "a layout is nchw, nhwc, or one stride per dimension with commas between");
    int64_t align = 16;
    if (take_char(&w, '@') && (!take_int(&w, &align) || align < 1 || align > 16 || (align & (align - 1))))
        return refuse(whole, "the alignment after @ is 1, 2, 4, 8 or 16");
    p->align[role] = (uint8_t)align;
    return w.len ? refuse(whole, "something stands after the tensor") : DN_SUCCESS;
}

static dn_status parse_field(word whole, word w, dn_problem *p, const dn_field *f)
{
    unsigned char *at = (unsigned char *)&p->u + f->offset;
    int64_t v[DN_RANK_MAX];
    if (f->kind == DN_FIELD_SPATIAL || f->kind == DN_FIELD_DIMS) {
        int want = dn_field_length(p, f), n = take_list(&w, 'x', v, DN_RANK_MAX);
        if ((n != 1 && n != want) || w.len)
            return refuse(whole, "wants one number, or one per spatial dimension with x between (tensors come first)");
        for (int i = 0; i < want; i++) {
            int64_t e = v[n == 1 ? 0 : i];
            if (e < INT32_MIN || e > INT32_MAX)
                return refuse(whole, "the number does not fit 32 bits");
            ((int32_t *)at)[i] = (int32_t)e;
        }
        return DN_SUCCESS;
    }
    if (f->kind == DN_FIELD_REAL) {
        char text[64], *end;
        if (!w.len || w.len >= sizeof text)
            return refuse(whole, "wants a number");
        memcpy(text, w.s, w.len);
        text[w.len] = 0;
        for (char *c = text; *c; c++)
            if (*c == '.')
                *c = *localeconv()->decimal_point;  /* strtod follows the program's locale; the line does not */
        double d = strtod(text, &end);
        memcpy(at, &d, sizeof d);
        return *end ? refuse(whole, "wants a number") : DN_SUCCESS;
    }
    int32_t i;
    if (f->kind == DN_FIELD_NAME) {
        i = find_word(w, f->names, dn_field_names(f));
        if (i < 0)
            return refuse(whole, "no such value");
    } else {
        if (!take_int(&w, &v[0]) || w.len || v[0] < INT32_MIN || v[0] > INT32_MAX)
            return refuse(whole, "wants a whole number");
        i = (int32_t)v[0];
    }
    memcpy(at, &i, sizeof i);
    return DN_SUCCESS;
}

static dn_status parse_common(word whole, word key, word value, dn_problem *p)
{
    int64_t v;
    if (word_is(key, "comp")) {
        int t = dn_dtype_parse(value.s, value.len);
        if (t < 0)
            return refuse(whole, "no such type");
        p->compute = (uint8_t)t;
        return DN_SUCCESS;
    }
    if (word_is(key, "math")) {
        int m = find_word(value, dn_math_words, DN_MATH_WORDS);
        if (m < 0)
            return refuse(whole, "default, tensor, convert or fma");
        p->math = (uint8_t)m;
        return DN_SUCCESS;
    }
    if (word_is(key, "algo#")) {
        if (!take_int(&value, &v) || value.len || v < 0 || v > 1000)
            return refuse(whole, "wants an algorithm number");
        p->algo = (int16_t)v;
        return DN_SUCCESS;
    }
    return refuse(whole, "no such word for this operation");
}

/* Standard values, once the tensors have told the number of spatial dimensions. */
static void set_standards(dn_problem *p)
{
    const dn_tensor *t = p->t[DN_X].rank ? &p->t[DN_X] : &p->t[DN_Y];
    int spatial = t->rank > 2 ? t->rank - 2 : 0;
    for (const dn_field *f = dn_ops[p->op].fields; f->key; f++) {
        unsigned char *at = (unsigned char *)&p->u + f->offset;
        int32_t standard = (int32_t)f->standard;
        if (f->fused_only && p->op != DN_OP_CONV_BIAS_ACT)
            continue;
        if (f->kind == DN_FIELD_SPATIAL || f->kind == DN_FIELD_DIMS) {
            int32_t n = spatial > DN_SPATIAL_MAX ? DN_SPATIAL_MAX : spatial;
            memcpy((unsigned char *)&p->u + f->count_offset, &n, sizeof n);
            n = dn_field_length(p, f);
            for (int i = 0; i < n; i++)
                memcpy(at + i * 4, &standard, sizeof standard);
        } else if (f->kind == DN_FIELD_REAL) {
            memcpy(at, &f->standard, sizeof f->standard);
        } else {
            memcpy(at, &standard, sizeof standard);
        }
    }
}

static dn_status parse_word(word w, dn_problem *p, bool tensors)
{
    for (int i = 0; i < DN_FLAG_WORDS; i++)
        if (word_is(w, dn_flag_words[i].word)) {
            p->flags |= dn_flag_words[i].flag;
            return DN_SUCCESS;
        }
    const char *eq = memchr(w.s, '=', w.len);
    if (!eq)
        return refuse(w, "wants key=value");
    word key = { w.s, (size_t)(eq - w.s) }, value = { eq + 1, w.len - key.len - 1 };
    int role = find_word(key, dn_role_words, DN_ROLE_COUNT);
    if (tensors)
        return role >= 0 ? parse_tensor(w, value, p, role) : DN_SUCCESS;
    if (role >= 0)
        return DN_SUCCESS;
    for (const dn_field *f = dn_ops[p->op].fields; f->key; f++)
        if (word_is(key, f->key) && (!f->fused_only || p->op == DN_OP_CONV_BIAS_ACT))
            return parse_field(w, value, p, f);
    return parse_common(w, key, value, p);
}

static word next_word(const char **line)
{
    *line += strspn(*line, " \t\r\n");
    word w = { *line, strcspn(*line, " \t\r\n") };
    *line += w.len;
    return w;
}

dn_status dn_problem_parse(const char *line, dn_problem *p)
{
    word op = next_word(&line), dir = next_word(&line);
    int o = -1;
    for (int i = 0; i < DN_OP_COUNT; i++)
        if (word_is(op, dn_ops[i].name))
            o = i;
    if (o < 0)
        return refuse(op, "no such operation");
    int d = find_word(dir, dn_dir_words, DN_DIR_COUNT);
    if (d < 0)
        return refuse(dir, "no such direction");
    dn_problem_init(p, (dn_op)o, (dn_dir)d);
    for (int pass = 0; pass < 2; pass++) {  /* tensors first: they tell how many numbers pad=1x2 may have */
        const char *rest = line;
        for (word w = next_word(&rest); w.len; w = next_word(&rest)) {
            dn_status st = parse_word(w, p, pass == 0);
            if (st != DN_SUCCESS)
                return st;
        }
        if (pass == 0)
            set_standards(p);
    }
    if (o == DN_OP_RNN)
        dn_rnn_derive(p);
    return dn_problem_check(p);
}
