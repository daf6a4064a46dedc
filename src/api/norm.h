/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Steps that the three forms of batch normalisation share (norm.c, norm_ex.c, norm_v8.c). As in opcall.h, the first step that fails
 * leaves its status and text, and the later ones do nothing. */
#ifndef DN_API_NORM_H
#define DN_API_NORM_H

#include "opcall.h"

void dn_bn_begin(dn_opcall *c, cudnnHandle_t handle, dn_dir dir, int mode);
void dn_bn_epsilon(dn_opcall *c, double epsilon);
/* What is fused: ops_name is the argument's name. Where that is nothing, act may be NULL, and anything but an activation
 * descriptor is refused all the same. */
void dn_bn_fuse(dn_opcall *c, int ops, const char *ops_name, cudnnActivationDescriptor_t act);
/* A tensor whose data must not be NULL. */
void dn_bn_bind(dn_opcall *c, dn_role role, cudnnTensorDescriptor_t desc, const char *desc_name, const void *ptr, const char *name);
/* A tensor's description alone, for a query. */
void dn_bn_shape(dn_opcall *c, dn_role role, cudnnTensorDescriptor_t desc, const char *desc_name);
/* A descriptor that the call does not look at: NULL, or a live one, set or not. */
void dn_bn_spare(dn_opcall *c, cudnnTensorDescriptor_t desc, const char *desc_name);
void dn_bn_want(dn_opcall *c, dn_aux which, const void *ptr, const char *name);
/* Training: running and saved statistics, each pair given together or not at all. */
void dn_bn_statistics(dn_opcall *c, double factor, void *mean, void *var, void *save_mean, void *save_inv);
/* Backward: the saved pair, or none. */
void dn_bn_saved(dn_opcall *c, const void *mean, const void *inv);
/* After X: factors are float, or double for double data. */
void dn_bn_factors(dn_opcall *c, const void *alpha, const void *beta);
void dn_bn_gradient_factors(dn_opcall *c, const void *alpha, const void *beta, const void *param_alpha, const void *param_beta);
/* Where out is written over in, their strides must be equal: then each element is read before it is written. */
void dn_bn_overlay(dn_opcall *c, dn_role out, const char *out_name, dn_role in, const char *in_name);
/* The same for dx and dz over dy and x, names in this order. dx and dz may not be one. */
void dn_bn_overlay_gradients(dn_opcall *c, const char *dx, const char *dz, const char *dy, const char *x);
/* The caller's buffers; the reserve space must be as large as the query answers. */
void dn_bn_buffers(dn_opcall *c, void *workspace, size_t workspace_size, void *reserve, size_t reserve_size);
/* After everything else: flags, check, run. */
cudnnStatus_t dn_bn_run(dn_opcall *c);
/* The two queries. */
cudnnStatus_t dn_bn_workspace(dn_opcall *c, size_t *size);
cudnnStatus_t dn_bn_reserve(dn_opcall *c, size_t *size);

#endif
