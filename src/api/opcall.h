/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A call being turned into a problem, step by step; the first step that fails leaves its status and text, and the later ones do
 * nothing. For operations of the shape out = alpha * op(inputs) + beta * out. */
#ifndef DN_API_OPCALL_H
#define DN_API_OPCALL_H

#include "api.h"

typedef struct dn_opcall {
    dn_handle *h;
    dn_problem p;
    dn_args a;
    dn_status st;
} dn_opcall;

void dn_opcall_begin(dn_opcall *c, cudnnHandle_t handle, dn_op op, dn_dir dir);
/* A tensor and its data. name is the prefix of both arguments' names: "x" for xDesc and x. needed: data must not be NULL. */
void dn_opcall_tensor(dn_opcall *c, dn_role role, const cudnnTensorDescriptor_t desc, const void *data, const char *name,
                      bool needed);
/* The same where the names do not follow that pattern. data_name NULL: the data may be missing. */
void dn_opcall_operand(dn_opcall *c, dn_role role, const cudnnTensorDescriptor_t desc, const char *desc_name, const void *data,
                       const char *data_name);
/* After that tensor, for most operations the output: factors of its type. */
void dn_opcall_factors(dn_opcall *c, dn_role like, const void *alpha, const void *beta);
/* Marks the problem where the output lies at the address of that input, and refuses it where their layouts differ. */
void dn_opcall_overlay(dn_opcall *c, dn_role out, dn_role in);
/* Checks the problem and runs it. */
cudnnStatus_t dn_opcall_run(dn_opcall *c, dn_status (*check)(const dn_problem *p));

#endif
