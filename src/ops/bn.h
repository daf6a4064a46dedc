/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Shapes that batch normalisation derives from x: of the parameters (scale, bias, mean, variance and their gradients all have the
 * same) and of the mask in the reserve space. */
#ifndef DN_OPS_BN_H
#define DN_OPS_BN_H

#include "ops/problem.h"

/* cudnnBatchNormMode_t's numbers */
enum { DN_BN_PER_ACTIVATION, DN_BN_SPATIAL, DN_BN_SPATIAL_PERSISTENT, DN_BN_MODE_COUNT };

/* f64 for f64; f32 for the other floats and the 8-bit integers; else the type itself, as the vendor's library answers. */
dn_dtype dn_bn_param_type(dn_dtype data);
/* 1 x C x 1 x ... for the spatial modes, 1 x C x spatial per activation; packed in dimension order whatever x's layout is. */
void dn_bn_derive(const dn_tensor *x, int mode, dn_tensor *out);
/* BAD_PARAM unless w is of the derived shape and type; name is the argument's. */
dn_status dn_bn_check_param(const dn_tensor *x, const dn_tensor *w, int mode, const char *name);
/* Dimensions of t that have statistics of their own, or those that the statistics are taken over, as a tensor of their own. */
dn_tensor dn_bn_part(const dn_tensor *t, int mode, bool kept);
/* One byte per element, packed in the order of x's memory, so that it follows from x's description alone. */
void dn_bn_mask(const dn_tensor *x, dn_tensor *out);
/* Bytes that train writes and bwd reads; 0 where nothing is fused. */
size_t dn_bn_reserve_size(const dn_problem *p);

#endif
