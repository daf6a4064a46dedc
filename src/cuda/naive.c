/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "cuda/naive.h"

_Static_assert(DN_ITER_RANK <= DN_WALK_RANK && DN_ITER_MAX <= DN_WALK_TENSORS, "every iterator is a walk");
_Static_assert(DN_RANK_MAX <= DN_VIEW_RANK, "every tensor is a view");

dn_elements dn_elements_typed(dn_dtype type)
{
    return (dn_elements){ .type = (int)dn_dtype_scalar(type), .size = (int)dn_dtype_size(type) };
}

dn_elements dn_elements_of(const dn_tensor *t)
{
    return dn_elements_typed((dn_dtype)t->type);
}

void dn_elements_bind(dn_elements *e, const void *ptr)
{
    e->ptr = (void *)(uintptr_t)ptr;
    e->bytes = (uintptr_t)ptr % (unsigned)e->size != 0;
}

void dn_view_of(dn_view *v, const dn_tensor *t, const dn_tensor *like)
{
    *v = (dn_view){ .e = dn_elements_of(t), .vect = 1, .vect_dim = -1 };
    if (t->vect > 1) {
        v->vect = t->vect;
        v->vect_dim = t->vect_dim;
    }
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d] > 1 || !like || like->dims[d] == 1)
            v->stride[d] = t->strides[d] * v->vect;
}

void dn_dims_of(const dn_tensor *t, long long dims[DN_VIEW_RANK])
{
    for (int d = 0; d < DN_VIEW_RANK; d++)
        dims[d] = d < t->rank ? t->dims[d] : 1;
}

void dn_walk_of(dn_walk *w, const dn_iter *it)
{
    *w = (dn_walk){ .count = 1, .rank = it->rank, .tensors = it->count };
    for (int d = 0; d < it->rank; d++) {
        w->dims[d] = it->dims[d];
        w->count *= it->dims[d];
        for (int t = 0; t < it->count; t++)
            w->step[t][d] = it->step[t][d];
    }
}
