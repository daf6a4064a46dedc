/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the launchers of the naive rows share: tensors as kernels see them. */
#ifndef DN_CUDA_NAIVE_H
#define DN_CUDA_NAIVE_H

#include "cuda/cuda.h"
#include "cuda/view.h"
#include "ref/ref.h"

/* Type and size of t's scalars; the pointer comes with dn_elements_bind, in run, and may have any alignment. */
dn_elements dn_elements_of(const dn_tensor *t);
dn_elements dn_elements_typed(dn_dtype type);
void dn_elements_bind(dn_elements *e, const void *ptr);

/* The view of t. like: a dimension of size 1 of t where like's is larger is broadcast; NULL for t's own dims. */
void dn_view_of(dn_view *v, const dn_tensor *t, const dn_tensor *like);
/* t's dims, with 1 behind its rank. */
void dn_dims_of(const dn_tensor *t, long long dims[DN_VIEW_RANK]);

/* The walk of an iterator; count tensors of it. */
void dn_walk_of(dn_walk *w, const dn_iter *it);

#endif
