/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the launchers of elementwise rows share: cutting a call into units (flat_walk.h). */
#ifndef DN_CUDA_FLAT_H
#define DN_CUDA_FLAT_H

#include "cuda/cuda.h"
#include "cuda/flat_walk.h"

dn_div dn_div_by(unsigned by);  /* 1 .. 2^31 - 1 */

/* How count tensors of p are walked in units of n elements. NULL, or why they are not. f may be NULL. */
const char *dn_flat_of(dn_flat *f, const dn_problem *p, const dn_role *roles, int count, int n);
/* How the last of count tensors is repeated over the others, which are dense and alike. f: their walk. Both may be NULL. */
const char *dn_repeat_of(dn_flat *f, dn_repeat *r, const dn_problem *p, const dn_role *roles, int count, int n);

/* Blocks for all units and the tail. */
void dn_flat_grid(dn_cuda_grid *g, const dn_flat *f, int n);

#endif
