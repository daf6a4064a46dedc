/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fused operations: the two parameter packs and the plan (fused.c, fused_plan.c, fused_run.c). A plan is a short list of problems that
 * run in order, with what passes between them in the caller's workspace. */
#ifndef DN_API_FUSED_H
#define DN_API_FUSED_H

#include "api.h"

enum { DN_FUSED_TYPES = 7, DN_FUSED_LABELS = 39, DN_FUSED_POINTERS = 24 };

/* What a label of the constant pack stands for. */
typedef enum dn_fused_kind { DN_LABEL_TENSOR, DN_LABEL_FILTER, DN_LABEL_CONV, DN_LABEL_ACT, DN_LABEL_MODE, DN_LABEL_PLACE } dn_fused_kind;

typedef struct dn_fused_label {
    const char *name;
    uint8_t kind;      /* dn_fused_kind */
    uint8_t types;     /* bit t: plans of type t have it */
    int8_t pointer;    /* of a placeholder: the variant pack's label; else -1 */
} dn_fused_label;
extern const dn_fused_label dn_fused_labels[DN_FUSED_LABELS];

/* A copy of what the caller passed. */
typedef struct dn_fused_item {
    int32_t set;
    int32_t value;     /* of a mode or a placeholder; 0 where it was not set */
    union {
        dn_tensor_desc tensor;
        dn_filter_desc filter;
        dn_conv_desc conv;
        dn_act_desc act;
    } u;
} dn_fused_item;

typedef struct dn_fused_const {
    uint32_t cookie;
    int32_t ops;       /* cudnnFusedOps_t */
    dn_fused_item item[DN_FUSED_LABELS];
} dn_fused_const;

typedef struct dn_fused_variant {
    uint32_t cookie;
    int32_t ops;
    void *ptr[DN_FUSED_POINTERS];  /* by label; the workspace's is among them */
    size_t workspace_size;
    int64_t count;
    double factor, eps;
} dn_fused_variant;

/* Where a step finds an operand: nowhere, at a pointer of the variant pack, or in a part of the workspace. */
enum { DN_FROM_NONE, DN_FROM_POINTER, DN_FROM_WORKSPACE = DN_FROM_POINTER + DN_FUSED_POINTERS };
enum { DN_FUSED_STEPS = 3, DN_FUSED_PARTS = 4 };

typedef struct dn_fused_step {
    dn_problem p;
    uint8_t role[DN_ROLE_COUNT], aux[DN_AUX_COUNT];  /* DN_FROM_POINTER + label, DN_FROM_WORKSPACE + part */
} dn_fused_step;

typedef struct dn_fused_plan {
    uint32_t cookie;
    int32_t ops;
    int32_t made, steps;
    dn_fused_step step[DN_FUSED_STEPS];
    size_t part[DN_FUSED_PARTS + 1];   /* where the parts of the workspace begin; the last is where the steps' own begins */
    int32_t parts;
    size_t workspace;                  /* bytes in all */
    uint32_t needed, optional, wide;   /* bit per pointer: must not be NULL; is used where it is not; must be a multiple of 16 */
    uint8_t bytes[DN_FUSED_POINTERS];  /* of an element behind it */
} dn_fused_plan;

extern dn_pool dn_fused_const_pool, dn_fused_variant_pool, dn_fused_plan_pool;

/* Steps and sizes of a plan for what the pack holds. */
dn_status dn_fused_make(dn_handle *h, dn_fused_plan *plan, const dn_fused_const *pack);
dn_status dn_fused_execute(dn_handle *h, const dn_fused_plan *plan, const dn_fused_variant *pack);
/* "CUDNN_PTR_XDATA" */
const char *dn_fused_pointer_name(int pointer);

#endif
