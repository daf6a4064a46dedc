/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A convolution call being put together, shared by the calls that run (conv.c) and those that ask (conv_find.c). The first
 * failure stays in st, and what follows does nothing. */
#ifndef DN_API_CONV_H
#define DN_API_CONV_H

#include "api.h"

typedef struct dn_conv_call {
    dn_problem p;
    dn_args a;
    dn_handle *h;
    dn_status st;
    int reorder;  /* cudnnReorderType_t of the descriptor */
    int math;  /* of the descriptor, for the algorithm lists */
} dn_conv_call;

/* algo: the caller's number, one of count enumerators; count 0: the call names none. */
void dn_conv_begin(dn_conv_call *c, cudnnHandle_t handle, dn_dir dir, const cudnnConvolutionDescriptor_t conv, int algo, int count);
/* ptr_name NULL: a query, there are no data. */
void dn_conv_bind_tensor(dn_conv_call *c, dn_role role, const cudnnTensorDescriptor_t desc, const char *desc_name, const void *ptr,
                         const char *ptr_name);
void dn_conv_bind_filter(dn_conv_call *c, const cudnnFilterDescriptor_t desc, const char *desc_name, const void *ptr,
                         const char *ptr_name);
void dn_conv_bind_workspace(dn_conv_call *c, void *workspace, size_t size);
/* All roles are bound: checks them against each other. */
void dn_conv_verify(dn_conv_call *c);

#endif
