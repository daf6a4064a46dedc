/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of ref's attention share. Letters and rows as in ops/attn.h. All values are doubles in arrays of the call's workspace, laid
 * out as the reserve space lays them out, and are rounded where they leave it. */
#ifndef DN_REF_ATTN_H
#define DN_REF_ATTN_H

#include "ops/attn.h"
#include "ref/ref.h"

typedef struct dn_attn_job {
    const dn_problem *p;
    const dn_attn_param *u;
    const dn_args *a;
    dn_attn_size z;              /* z.s is 1 where one time alone is computed */
    dn_dtype type;
    int64_t time;                /* of the first query row of a sequence */
    const int32_t *len_q, *len_k;
    double *w;                   /* all weights */
    double *xq, *xk, *xv;        /* the inputs, rows past an end 0: [N B S][q], [N b T][k], [N b T][v] */
    double *q, *k, *v, *prob, *heads;  /* as in the reserve space */
    double *kept;                /* prob after dropout; prob itself without */
    double *out;                 /* [N B S][out]: of the output projection, or its gradient */
    double *dheads, *dprob;      /* gradients: [N B S][H][F], [H][N B][S][T] (by the scores in the end) */
    double *dq, *dk, *dv;        /* as in the reserve space */
} dn_attn_job;

/* Hands out the workspace (base NULL: only *bytes is wanted; SIZE_MAX past size_t). */
void dn_attn_job_init(dn_attn_job *j, const dn_problem *p, const dn_args *a, unsigned char *base, size_t *bytes);
size_t dn_attn_job_bytes(const dn_problem *p);

/* c[i][l] = alpha * sum over k of a[i][k] b[k][l] (+ bias[l]) (+ c[i][l] where add): `outer` x `inner` products, one outer after the other
 * in every element, so that outer products may add up in one c (pitch 0). Steps in elements; one of b's is 1. */
typedef struct dn_attn_product {
    const double *a, *b, *bias;
    double *c;
    int64_t m, n, k;
    int64_t a_row, a_step, b_step, b_col, c_row;
    int64_t outer, inner;
    int64_t a_pitch[2], b_pitch[2], c_pitch[2], bias_pitch;  /* by outer, inner */
    double alpha;
    bool add;
} dn_attn_product;
void dn_attn_multiply(const dn_attn_product *g);

/* Rows of a sequence tensor to and from a compact array. */
typedef struct dn_attn_rows {
    const dn_tensor *t;
    void *ptr;
    const int32_t *len;          /* by batch x beam; NULL: all rows are inside */
    int64_t first, times;        /* rows first .. first + times - 1 of every sequence */
    double *v;                   /* [N B times][vector] */
} dn_attn_rows;
void dn_attn_load_rows(const dn_attn_rows *r);                   /* rows past an end are 0 in v */
void dn_attn_store_rows(const dn_attn_rows *r, const dn_attn_rows *added);  /* rows past an end are 0 in t; added (or NULL) is added */

/* v[i] = v[i] / (1 - p) where element first + i of a mask is kept, else 0. */
typedef struct dn_attn_mask {
    uint64_t seed, call, threshold;
    double scale;
} dn_attn_mask;
dn_attn_mask dn_attn_mask_of(const void *state, float probability);
void dn_attn_drop(const dn_attn_mask *m, int64_t first, int64_t n, const double *from, double *to);

/* What the directions begin with. */
void dn_attn_load_weights(const dn_attn_job *j);
void dn_attn_load_inputs(const dn_attn_job *j);
/* j->out = DY through its dropout. Rows past the ends count in the gradient by the output's bias alone, as the vendor's do: cut clears them. */
void dn_attn_load_gradient(const dn_attn_job *j, const dn_attn_reserve *r);
void dn_attn_cut_gradient(const dn_attn_job *j);
dn_attn_weight dn_attn_weight_of(const dn_attn_job *j, int kind);

/* attn_bwd.c */
dn_status dn_attn_run_bwd_data(dn_handle *h, const dn_plan *plan, const dn_args *a);
dn_status dn_attn_run_bwd_filter(dn_handle *h, const dn_plan *plan, const dn_args *a);

#endif
