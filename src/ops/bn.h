/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Shape of the parameters of batch normalisation: scale, bias, mean, variance and their gradients all have it. */
#ifndef DN_OPS_BN_H
#define DN_OPS_BN_H

#include "ops/problem.h"

/* cudnnBatchNormMode_t's numbers */
enum { DN_BN_PER_ACTIVATION, DN_BN_SPATIAL, DN_BN_SPATIAL_PERSISTENT, DN_BN_MODE_COUNT };

/* f64 for f64; f32 for the other floats and the 8-bit integers; else the type itself, as the vendor's library answers. */
dn_dtype dn_bn_param_type(dn_dtype data);
/* 1 x C x 1 x ... for the spatial modes, 1 x C x spatial per activation; packed in dimension order whatever x's layout is. */
void dn_bn_derive(const dn_tensor *x, int mode, dn_tensor *out);

#endif
