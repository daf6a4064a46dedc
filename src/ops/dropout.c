/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Dropout: y = x / (1 - p) where an element is kept, 0 where it is dropped (NaN and infinity are dropped like any other value).
 * Tensors: fwd X Y, bwd_data DY DX. Types are equal, element counts are equal; element e of one's logical order
 * belongs to element e of the other's, so the dims themselves may differ. */
#include "ops/dropout.h"

static bool count_elements(const dn_tensor *t, int64_t *count)
{
    *count = 1;
    for (int d = 0; d < t->rank; d++)
        if (__builtin_mul_overflow(*count, t->dims[d], count))
            return false;
    return true;
}

bool dn_dropout_reserve_size(const dn_tensor *t, size_t *bytes)
{
    int64_t count;
    if (!count_elements(t, &count) || (uint64_t)count / 8 > SIZE_MAX - 32)
        return false;
    size_t packed = (size_t)(count / 8 + (count % 8 != 0));
    *bytes = (packed + 15) / 16 * 16;
    return true;
}

dn_status dn_dropout_check(const dn_problem *p)
{
    bool fwd = p->dir == DN_DIR_FWD;
    if (!fwd && p->dir != DN_DIR_BWD_DATA)
        return dn_fail(DN_BAD_PARAM, "direction is %s; dropout has fwd and bwd_data", dn_dir_name(p->dir));
    const dn_tensor *in = &p->t[fwd ? DN_X : DN_DY], *out = &p->t[fwd ? DN_Y : DN_DX];
    const char *in_name = fwd ? "xdesc" : "dydesc", *out_name = fwd ? "ydesc" : "dxdesc";
    int64_t in_count, out_count;
    if (!count_elements(in, &in_count) || !count_elements(out, &out_count))
        return dn_fail(DN_BAD_PARAM, "%s or %s has more elements than a 64-bit number counts", in_name, out_name);
    if (in->rank < 1 || in_count != out_count)
        return dn_fail(DN_BAD_PARAM, "%s has %lld elements, %s has %lld; they must be equal", in_name, (long long)in_count,
                       out_name, (long long)out_count);
    if (in->type != out->type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, %s has %s; they must be equal", in_name, dn_dtype_name(in->type), out_name,
                       dn_dtype_name(out->type));
    if (in->type != DN_F32 && in->type != DN_F64 && in->type != DN_F16 && in->type != DN_BF16)
        return dn_fail(DN_NOT_SUPPORTED, "%s has type %s; it must be f32, f64, f16 or bf16", in_name, dn_dtype_name(in->type));
    if ((p->flags & DN_F_IN_PLACE) && !dn_tensor_same_layout(in, out))
        return dn_fail(DN_BAD_PARAM, "%s and %s have other dims or strides, and the call is in place; there they must be equal",
                       in_name, out_name);
    return DN_SUCCESS;
}
