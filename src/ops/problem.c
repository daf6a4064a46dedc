/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The text line of a problem, both ways, from one table per operation:
 *     conv fwd x=n16c64h56w56:f16:nhwc w=k64c64r3s3:f16:nhwc y=n16c64h54w54:f16:nhwc pad=0 str=1 dil=1 grp=1 mode=xcorr comp=f32
 * A tensor is dims:type:layout; layout is nchw (dimension order), nhwc (channel innermost) or the strides, outermost first.
 * A word that has its default value is left out of the printed line where the table says so. */
#include "ops/problem.h"

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum field_kind { INT, SPATIAL, DIMS, REAL, NAME } field_kind;  /* DIMS: batch and channel, then spatial */

/* One word key=value of an operation's parameters. */
typedef struct field {
    const char *key;
    field_kind kind;
    uint16_t offset;             /* into dn_problem.u */
    uint16_t count_offset;       /* SPATIAL, DIMS: where the number of spatial dimensions stands */
    double standard;             /* left out of the line where the value is this */
    const char *const *names;    /* NAME: by value, ended by NULL */
    bool fused_only;             /* printed for DN_OP_CONV_BIAS_ACT alone */
} field;

static const char *const conv_modes[] = { "conv", "xcorr", NULL };
static const char *const nan_modes[] = { "stop", "pass", NULL };
static const char *const pool_modes[] = { "max", "avgpad", "avg", "maxdet", NULL };
static const char *const act_modes[] = { "sigmoid", "relu", "tanh", "crelu", "elu", "identity", "swish", NULL };
static const char *const softmax_algos[] = { "fast", "accurate", "log", NULL };
static const char *const softmax_modes[] = { "instance", "channel", NULL };
static const char *const bn_modes[] = { "peract", "spatial", "persistent", NULL };
static const char *const bn_ops[] = { "bn", "act", "addact", NULL };

static const char *const tensor_ops[] = { "add", "mul", "min", "max", "sqrt", "not", NULL };
static const char *const reduce_ops[] = { "add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mulnz", NULL };
static const char *const index_types[] = { "u32", "u64", "u16", "u8", NULL };

#define AT(type, member) (uint16_t) offsetof(type, member)
#define ACT_AT(type, member) (uint16_t)(offsetof(type, act) + offsetof(dn_act_param, member))

static const field conv_fields[] = {
    { .key = "pad", .kind = SPATIAL, .offset = AT(dn_conv_param, pad), .count_offset = AT(dn_conv_param, spatial), .standard = 0 },
    { .key = "str", .kind = SPATIAL, .offset = AT(dn_conv_param, stride), .count_offset = AT(dn_conv_param, spatial), .standard = 1 },
    { .key = "dil", .kind = SPATIAL, .offset = AT(dn_conv_param, dilation), .count_offset = AT(dn_conv_param, spatial), .standard = 1 },
    { .key = "grp", .kind = INT, .offset = AT(dn_conv_param, groups), .standard = 1 },
    { .key = "mode", .kind = NAME, .offset = AT(dn_conv_param, mode), .standard = 1, .names = conv_modes },
    { .key = "reordered", .kind = INT, .offset = AT(dn_conv_param, reordered), .standard = 0 },
    { .key = "act", .kind = NAME, .offset = ACT_AT(dn_conv_param, mode), .standard = DN_ACT_RELU, .names = act_modes, .fused_only = true },
    { .key = "nan", .kind = NAME, .offset = ACT_AT(dn_conv_param, nan), .standard = 0, .names = nan_modes, .fused_only = true },
    { .key = "coef", .kind = REAL, .offset = ACT_AT(dn_conv_param, coef), .standard = 0, .fused_only = true },
    { .key = "beta", .kind = REAL, .offset = ACT_AT(dn_conv_param, beta), .standard = 0, .fused_only = true },
    { 0 },
};
static const field pool_fields[] = {
    { .key = "mode", .kind = NAME, .offset = AT(dn_pool_param, mode), .standard = 0, .names = pool_modes },
    { .key = "win", .kind = SPATIAL, .offset = AT(dn_pool_param, window), .count_offset = AT(dn_pool_param, spatial), .standard = -1 },
    { .key = "pad", .kind = SPATIAL, .offset = AT(dn_pool_param, pad), .count_offset = AT(dn_pool_param, spatial), .standard = 0 },
    { .key = "str", .kind = SPATIAL, .offset = AT(dn_pool_param, stride), .count_offset = AT(dn_pool_param, spatial), .standard = 1 },
    { .key = "nan", .kind = NAME, .offset = AT(dn_pool_param, nan), .standard = 0, .names = nan_modes },
    { 0 },
};
static const field act_fields[] = {
    { .key = "act", .kind = NAME, .offset = AT(dn_act_param, mode), .standard = DN_ACT_RELU, .names = act_modes },
    { .key = "nan", .kind = NAME, .offset = AT(dn_act_param, nan), .standard = 0, .names = nan_modes },
    { .key = "coef", .kind = REAL, .offset = AT(dn_act_param, coef), .standard = 0 },
    { .key = "beta", .kind = REAL, .offset = AT(dn_act_param, beta), .standard = 0 },
    { 0 },
};
static const field softmax_fields[] = {
    { .key = "algo", .kind = NAME, .offset = AT(dn_softmax_param, algo), .standard = 1, .names = softmax_algos },
    { .key = "mode", .kind = NAME, .offset = AT(dn_softmax_param, mode), .standard = 0, .names = softmax_modes },
    { 0 },
};
static const field bn_fields[] = {
    { .key = "mode", .kind = NAME, .offset = AT(dn_bn_param, mode), .standard = 1, .names = bn_modes },
    { .key = "ops", .kind = NAME, .offset = AT(dn_bn_param, ops), .standard = 0, .names = bn_ops },
    { .key = "act", .kind = NAME, .offset = ACT_AT(dn_bn_param, mode), .standard = DN_ACT_RELU, .names = act_modes },
    { .key = "nan", .kind = NAME, .offset = ACT_AT(dn_bn_param, nan), .standard = 0, .names = nan_modes },
    { .key = "coef", .kind = REAL, .offset = ACT_AT(dn_bn_param, coef), .standard = 0 },
    { .key = "beta", .kind = REAL, .offset = ACT_AT(dn_bn_param, beta), .standard = 0 },
    { 0 },
};
static const field tensor_op_fields[] = {
    { .key = "op", .kind = NAME, .offset = AT(dn_tensor_op_param, op), .standard = 0, .names = tensor_ops },
    { .key = "nan", .kind = NAME, .offset = AT(dn_tensor_op_param, nan), .standard = 0, .names = nan_modes },
    { 0 },
};
static const field reduce_fields[] = {
    { .key = "op", .kind = NAME, .offset = AT(dn_reduce_param, op), .standard = 0, .names = reduce_ops },
    { .key = "nan", .kind = NAME, .offset = AT(dn_reduce_param, nan), .standard = 0, .names = nan_modes },
    { .key = "idx", .kind = INT, .offset = AT(dn_reduce_param, indices), .standard = 0 },
    { .key = "idxtype", .kind = NAME, .offset = AT(dn_reduce_param, index_type), .standard = 0, .names = index_types },
    { 0 },
};
static const field lrn_fields[] = {
    { .key = "n", .kind = INT, .offset = AT(dn_lrn_param, n), .standard = 5 },
    { .key = "alpha", .kind = REAL, .offset = AT(dn_lrn_param, alpha), .standard = 1e-4 },
    { .key = "beta", .kind = REAL, .offset = AT(dn_lrn_param, beta), .standard = 0.75 },
    { .key = "k", .kind = REAL, .offset = AT(dn_lrn_param, k), .standard = 2 },
    { 0 },
};
static const char *const folds[] = { "fold", "unfold", NULL };
static const field transform_fields[] = {
    { .key = "dir", .kind = NAME, .offset = AT(dn_transform_param, fold), .standard = 0, .names = folds },
    { .key = "by", .kind = SPATIAL, .offset = AT(dn_transform_param, by), .count_offset = AT(dn_transform_param, spatial), .standard = 1 },
    { .key = "before", .kind = DIMS, .offset = AT(dn_transform_param, before), .count_offset = AT(dn_transform_param, spatial), .standard = 0 },
    { .key = "after", .kind = DIMS, .offset = AT(dn_transform_param, after), .count_offset = AT(dn_transform_param, spatial), .standard = 0 },
    { 0 },
};
static const field no_fields[] = { { 0 } };

static const struct op_info {
    const char *name;
    const field *fields;
    dn_status (*check)(const dn_problem *p);
} ops[DN_OP_COUNT] = {
    [DN_OP_CONV] = { "conv", conv_fields, dn_conv_check },
    [DN_OP_CONV_BIAS_ACT] = { "convba", conv_fields, dn_conv_check },
    [DN_OP_POOL] = { "pool", pool_fields, dn_pool_check },
    [DN_OP_ACT] = { "act", act_fields, dn_act_check },
    [DN_OP_SOFTMAX] = { "softmax", softmax_fields, dn_softmax_check },
    [DN_OP_BN] = { "bn", bn_fields, dn_bn_check },
    [DN_OP_DROPOUT] = { "dropout", no_fields, dn_dropout_check },
    [DN_OP_ADD] = { "add", no_fields, dn_pointwise_check },
    [DN_OP_SCALE] = { "scale", no_fields, dn_pointwise_check },
    [DN_OP_SET] = { "set", no_fields, dn_pointwise_check },
    [DN_OP_TRANSFORM] = { "transform", no_fields, dn_pointwise_check },
    [DN_OP_TENSOR] = { "optensor", tensor_op_fields, dn_tensor_op_check },
    [DN_OP_REDUCE] = { "reduce", reduce_fields, dn_reduce_check },
    [DN_OP_TRANSFORM_EX] = { "transformex", transform_fields, dn_transform_ex_check },
    [DN_OP_IM2COL] = { "im2col", conv_fields, dn_im2col_check },
    [DN_OP_LRN] = { "lrn", lrn_fields, dn_lrn_check },
    [DN_OP_DIVNORM] = { "divnorm", lrn_fields, dn_divnorm_check },
    [DN_OP_ST_GRID] = { "stgrid", no_fields, dn_st_grid_check },
    [DN_OP_ST_SAMPLER] = { "stsample", no_fields, dn_st_sampler_check },
};
static const char *const dirs[DN_DIR_COUNT] = { "fwd", "bwd_data", "bwd_filter", "bwd_bias", "bwd", "infer", "train" };
static const char *const roles[DN_ROLE_COUNT] = { "x", "y", "w", "z", "b", "dx", "dy", "dz" };
static const char *const maths[] = { "default", "tensor", "convert", "fma", NULL };
static const struct { const char *word; uint16_t flag; } flags[] = {
    { "beta0", DN_F_BETA_ZERO }, { "det", DN_F_DETERMINISTIC }, { "inplace", DN_F_IN_PLACE },
};

const char *dn_op_name(dn_op op)
{
    return (unsigned)op < DN_OP_COUNT ? ops[op].name : "?";
}

const char *dn_dir_name(dn_dir dir)
{
    return (unsigned)dir < DN_DIR_COUNT ? dirs[dir] : "?";
}

dn_status dn_problem_check(const dn_problem *p)
{
    return p->op < DN_OP_COUNT ? ops[p->op].check(p) : dn_fail(DN_BAD_PARAM, "operation number %d is not one of ours", p->op);
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

static const void *field_at(const dn_problem *p, size_t offset)
{
    return (const unsigned char *)&p->u + offset;
}

static int32_t int_at(const dn_problem *p, size_t offset)
{
    int32_t v;
    memcpy(&v, field_at(p, offset), sizeof v);
    return v;
}

static int name_count(const char *const *names)
{
    int n = 0;
    while (names[n])
        n++;
    return n;
}

/* How many numbers a SPATIAL or DIMS word has, of those that there is room for. */
static int list_length(const dn_problem *p, const field *f)
{
    int n = int_at(p, f->count_offset), max = f->kind == DIMS ? DN_RANK_MAX : DN_SPATIAL_MAX;
    n += f->kind == DIMS ? 2 : 0;
    return n < max ? n : max;
}

static void print_list(out *o, const dn_problem *p, const field *f)
{
    int n = list_length(p, f);
    const int32_t *v = field_at(p, f->offset);
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

static void print_field(out *o, const dn_problem *p, const field *f)
{
    if (f->fused_only && p->op != DN_OP_CONV_BIAS_ACT)
        return;
    if (f->kind == SPATIAL || f->kind == DIMS) {
        print_list(o, p, f);
    } else if (f->kind == REAL) {
        double v;
        memcpy(&v, field_at(p, f->offset), sizeof v);
        if (v == f->standard)
            return;
        char text[40];
        snprintf(text, sizeof text, "%.17g", v);
        for (char *c = text; *c; c++)
            if (*c == *localeconv()->decimal_point)
                *c = '.';
        put(o, " %s=%s", f->key, text);
    } else {
        int32_t v = int_at(p, f->offset);
        if (v == (int32_t)f->standard)
            return;
        if (f->kind == NAME && v >= 0 && v < name_count(f->names))
            put(o, " %s=%s", f->key, f->names[v]);
        else
            put(o, " %s=%d", f->key, v);
    }
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
        put(&o, " %s=%s", roles[r], text);
        if (p->align[r] != 16)
            put(&o, "@%d", p->align[r]);
    }
    if (p->op < DN_OP_COUNT)
        for (const field *f = ops[p->op].fields; f->key; f++)
            print_field(&o, p, f);
    if (p->compute != DN_F32)
        put(&o, " comp=%s", dn_dtype_name((dn_dtype)p->compute));
    if (p->math)
        put(&o, " math=%s", p->math < 4 ? maths[p->math] : "?");
    if (p->algo >= 0)
        put(&o, " algo#=%d", p->algo);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (p->flags & flags[i].flag)
            put(&o, " %s", flags[i].word);
    return o.n;
}

/* --- parsing: every word is checked, nothing is guessed --- */

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

static dn_status parse_field(word whole, word w, dn_problem *p, const field *f)
{
    unsigned char *at = (unsigned char *)&p->u + f->offset;
    int64_t v[DN_RANK_MAX];
    if (f->kind == SPATIAL || f->kind == DIMS) {
        int want = list_length(p, f), n = take_list(&w, 'x', v, DN_RANK_MAX);
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
    if (f->kind == REAL) {
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
    if (f->kind == NAME) {
        i = find_word(w, f->names, name_count(f->names));
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
        int m = find_word(value, maths, 4);
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
    for (const field *f = ops[p->op].fields; f->key; f++) {
        unsigned char *at = (unsigned char *)&p->u + f->offset;
        int32_t standard = (int32_t)f->standard;
        if (f->fused_only && p->op != DN_OP_CONV_BIAS_ACT)
            continue;
        if (f->kind == SPATIAL || f->kind == DIMS) {
            int32_t n = spatial > DN_SPATIAL_MAX ? DN_SPATIAL_MAX : spatial;
            memcpy((unsigned char *)&p->u + f->count_offset, &n, sizeof n);
            n = list_length(p, f);
            for (int i = 0; i < n; i++)
                memcpy(at + i * 4, &standard, sizeof standard);
        } else if (f->kind == REAL) {
            memcpy(at, &f->standard, sizeof f->standard);
        } else {
            memcpy(at, &standard, sizeof standard);
        }
    }
}

static dn_status parse_word(word w, dn_problem *p, bool tensors)
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (word_is(w, flags[i].word)) {
            p->flags |= flags[i].flag;
            return DN_SUCCESS;
        }
    const char *eq = memchr(w.s, '=', w.len);
    if (!eq)
        return refuse(w, "wants key=value");
    word key = { w.s, (size_t)(eq - w.s) }, value = { eq + 1, w.len - key.len - 1 };
    int role = find_word(key, roles, DN_ROLE_COUNT);
    if (tensors)
        return role >= 0 ? parse_tensor(w, value, p, role) : DN_SUCCESS;
    if (role >= 0)
        return DN_SUCCESS;
    for (const field *f = ops[p->op].fields; f->key; f++)
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
        if (word_is(op, ops[i].name))
            o = i;
    if (o < 0)
        return refuse(op, "no such operation");
    int d = find_word(dir, dirs, DN_DIR_COUNT);
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
    return dn_problem_check(p);
}
