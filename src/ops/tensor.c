/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Questions about one tensor's shape and strides. */
#include "ops/problem.h"

#include <stdio.h>
#include <string.h>

static bool multiply(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* Stored units along dimension i: a vectorised dimension counts scalars, and its last vector may be part full. */
static int64_t units(const dn_tensor *t, int i)
{
    return t->vect > 1 && i == t->vect_dim ? (t->dims[i] + t->vect - 1) / t->vect : t->dims[i];
}

static bool pack_order(dn_tensor *t, const int *order)
{
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        t->strides[order[i]] = stride;
        if (!multiply(stride, units(t, order[i]), &stride))
            return false;
    }
    return true;
}

bool dn_tensor_pack(dn_tensor *t)
{
    int order[DN_RANK_MAX];
    for (int i = 0; i < t->rank; i++)
        order[i] = i;
    return pack_order(t, order);
}

bool dn_tensor_pack_nhwc(dn_tensor *t)
{
    int order[DN_RANK_MAX] = { 0 };
    for (int i = 2; i < t->rank; i++)
        order[i - 1] = i;
    if (t->rank > 1)
        order[t->rank - 1] = 1;
    return pack_order(t, order);
}

int64_t dn_tensor_count(const dn_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dims[i];
    return n;
}

bool dn_tensor_countable(const dn_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        if (!multiply(n, t->dims[i], &n) || n > DN_COUNT_MAX)
            return false;
    return true;
}

bool dn_tensor_span(const dn_tensor *t, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int i = 0; i < t->rank; i++) {
        int64_t reach, *end = t->strides[i] < 0 ? lo : hi;
        if (!multiply(units(t, i) - 1, t->strides[i], &reach) || __builtin_add_overflow(*end, reach, end))
            return false;
    }
    return true;
}

/* Strides of dimensions of size 1 say nothing about where an element lies. */
static bool same_strides(const dn_tensor *a, const dn_tensor *b)
{
    for (int i = 0; i < a->rank; i++)
        if (a->strides[i] != b->strides[i] && units(a, i) > 1)
            return false;
    return true;
}

bool dn_tensor_is_packed(const dn_tensor *t)
{
    dn_tensor p = *t;
    return dn_tensor_pack(&p) && same_strides(t, &p);
}

bool dn_tensor_is_packed_nhwc(const dn_tensor *t)
{
    dn_tensor p = *t;
    return dn_tensor_pack_nhwc(&p) && same_strides(t, &p);
}

bool dn_tensor_is_dense(const dn_tensor *t)
{
    bool used[DN_RANK_MAX] = { false };
    int64_t stride = 1;
    for (int k = 0; k < t->rank; k++) {
        int pick = -1;
        for (int i = 0; i < t->rank; i++)
            if (!used[i] && units(t, i) > 1 && (pick < 0 || t->strides[i] < t->strides[pick]))
                pick = i;
        if (pick < 0)
            return true;
        if (t->strides[pick] != stride)
            return false;
        used[pick] = true;
        stride *= units(t, pick);
    }
    return true;
}

bool dn_tensor_same_dims(const dn_tensor *a, const dn_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

bool dn_tensor_same_layout(const dn_tensor *a, const dn_tensor *b)
{
    return dn_tensor_same_dims(a, b) && a->vect == b->vect && same_strides(a, b);
}

/* --- text --- */

static const char *letters(dn_role role, int rank)
{
    static const char *const data[] = { "", "", "", "ncw", "nchw", "ncdhw" };
    static const char *const filter[] = { "", "", "", "kcs", "kcrs", "kctrs" };
    if (rank < 3 || rank > 5)
        return NULL;
    return role == DN_W ? filter[rank] : data[rank];
}

int dn_tensor_print(const dn_tensor *t, dn_role role, char *buf, size_t size)
{
    char text[512];
    int n = 0;
    const char *name = letters(role, t->rank);
    for (int i = 0; i < t->rank; i++)
        n += name ? snprintf(text + n, sizeof text - (size_t)n, "%c%lld", name[i], (long long)t->dims[i])
                  : snprintf(text + n, sizeof text - (size_t)n, "%s%lld", i ? "x" : "", (long long)t->dims[i]);
    n += snprintf(text + n, sizeof text - (size_t)n, ":%s", dn_dtype_name((dn_dtype)t->type));
    dn_tensor nchw = *t, nhwc = *t;
    if (dn_tensor_pack(&nchw) && memcmp(nchw.strides, t->strides, sizeof t->strides) == 0) {
        n += snprintf(text + n, sizeof text - (size_t)n, ":nchw");
    } else if (dn_tensor_pack_nhwc(&nhwc) && memcmp(nhwc.strides, t->strides, sizeof t->strides) == 0) {
        n += snprintf(text + n, sizeof text - (size_t)n, ":nhwc");
    } else {
        for (int i = 0; i < t->rank; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld", i ? "," : ":", (long long)t->strides[i]);
    }
    return snprintf(buf, size, "%s", text);
}
