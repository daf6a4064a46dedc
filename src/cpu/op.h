/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What every row of the cpu engine is made of: one oneDNN primitive, its operands, and for each operand whose format is not the
 * caller's a reorder through scratch memory. A row builds its state from the problem alone (descriptors, formats, sizes); check
 * and workspace stop there, prepare goes on to compile, and run only sets pointers and executes. */
#ifndef DN_CPU_OP_H
#define DN_CPU_OP_H

#include "core/engine.h"
#include "cpu/dnnl.h"

extern const dn_rows dn_cpu_conv, dn_cpu_conv_bias_act, dn_cpu_pool, dn_cpu_act, dn_cpu_softmax, dn_cpu_bn, dn_cpu_transform;
extern const dn_rows dn_cpu_rnn_fwd, dn_cpu_rnn_bwd_data, dn_cpu_rnn_bwd_filter;

enum { DN_CPU_ALIGN = 64, DN_CPU_OPERANDS = 10, DN_CPU_OPS = 3 };

/* Where an operand's memory is: a dn_role, DN_ROLE_COUNT + a dn_aux, or scratch at the operand's `at`. */
enum { DN_CPU_SCRATCH = DN_ROLE_COUNT + DN_AUX_COUNT };

typedef enum dn_cpu_flow { DN_CPU_IN, DN_CPU_OUT } dn_cpu_flow;

typedef struct dn_cpu_operand {
    int arg;                    /* oneDNN's number; 0: no argument but the addend of DST */
    int slot;
    dn_cpu_flow flow;
    dn_dnnl_md *user;           /* as it lies at the slot; NULL: as the primitive wants it */
    const dn_dnnl_md *prim;     /* as the primitive wants it; owned by the pd */
    dn_dnnl_pd *reorder_pd;     /* where the two differ */
    dn_dnnl_prim *reorder;
    dn_dnnl_mem *user_mem, *prim_mem;
    size_t at;                  /* offset in scratch of what lies at slot DN_CPU_SCRATCH */
    size_t copy;                /* offset in scratch of the primitive's copy, where there is a reorder */
} dn_cpu_operand;

typedef struct dn_cpu_op {
    dn_dnnl_pd *pd;
    dn_dnnl_prim *prim;
    dn_dnnl_mem *pad_mem;       /* oneDNN's own scratchpad */
    size_t pad_offset, pad_size;
    dn_cpu_operand operand[DN_CPU_OPERANDS];
    int count;
} dn_cpu_op;

/* A row's plan->state. What op[] means is the row's own business. */
typedef struct dn_cpu_state {
    dn_cpu_op op[DN_CPU_OPS];   /* those with a pd are compiled */
    bool optional[DN_CPU_OPS];  /* dropped where oneDNN cannot make its code after all */
    size_t scratch;             /* bytes of all regions, each on a multiple of DN_CPU_ALIGN */
    bool from_caller;           /* scratch is the call's workspace; else the handle's */
    bool staged;                /* the result is made as f32 at offset `stage` and blended from there */
    size_t stage;
    size_t own;                 /* the row's own region */
    float eps;                  /* of the compiled batch normalisation */
    dn_plan *exact;             /* ref's plan of the same problem, for data that oneDNN treats otherwise */
} dn_cpu_state;

/* Fills s from p, or answers the fixed sentence why not; what was made by then is freed by the caller either way. */
typedef const char *(*dn_cpu_build)(const dn_problem *p, dn_cpu_state *s);

/* --- tensors --- */
typedef enum dn_cpu_layout { DN_CPU_NCHW, DN_CPU_NHWC } dn_cpu_layout;
/* NHWC where every tensor of p that is not both is packed with the channel innermost, else NCHW. */
dn_cpu_layout dn_cpu_layout_of(const dn_problem *p, const dn_role *roles, int count);
/* oneDNN's number for a type, or -1. */
int dn_cpu_type(dn_dtype t);
/* A tensor's md. The strides of a dimension of size 1 say nothing, so packed tensors get those of the layout. */
const char *dn_cpu_md(dn_dnnl_md **out, const dn_tensor *t, dn_cpu_layout layout);
/* NULL, or why no row takes tensors of these roles: counts past 31 bits, misaligned pointers, vectors. */
const char *dn_cpu_tensors(const dn_problem *p, const dn_role *roles, int count);

/* --- building --- */
/* The primitive descriptor, with post-operations. Reference code of oneDNN is refused: ours is exact and takes any stride. */
const char *dn_cpu_pd(dn_cpu_op *op, const dn_dnnl_desc *d, const dn_dnnl_post *posts, int post_count);
/* The same for a reorder. */
const char *dn_cpu_reorder_pd(dn_cpu_op *op, const dn_dnnl_md *from, const dn_dnnl_md *to);
/* An argument of the primitive. `user` becomes the operand's; NULL where the slot holds what the primitive wants. */
const char *dn_cpu_bind(dn_cpu_op *op, int arg, int slot, dn_cpu_flow flow, dn_dnnl_md *user);
/* The same, in scratch at offset `at`. */
const char *dn_cpu_bind_at(dn_cpu_op *op, int arg, size_t at, dn_cpu_flow flow, dn_dnnl_md *user);
/* What a summing post-operation adds: `slot` is copied to where the destination, bound before, is made. */
const char *dn_cpu_bind_sum(dn_cpu_op *op, int slot, dn_dnnl_md *user);
/* A region of scratch; answers its offset. */
size_t dn_cpu_region(dn_cpu_state *s, size_t bytes);
/* Regions for the reorders and the scratchpad of op. Operations of one row run one after the other, so all of them begin at
 * `from`; s->scratch grows to the end of the longest. */
void dn_cpu_place(dn_cpu_state *s, dn_cpu_op *op, size_t from);
void dn_cpu_op_free(dn_cpu_op *op);
void dn_cpu_state_free(dn_cpu_state *s);

/* Decides where the result of role `out` is made. Staging is for f32 primitives. */
void dn_cpu_stage(const dn_problem *p, dn_cpu_state *s, dn_role out);
/* Binds the result accordingly. */
const char *dn_cpu_bind_result(dn_cpu_op *op, const dn_cpu_state *s, int arg, dn_role out, dn_dnnl_md *user);

/* --- a row's functions --- */
const char *dn_cpu_check(const dn_problem *p, dn_cpu_build build);
size_t dn_cpu_workspace(const dn_problem *p, dn_cpu_build build);  /* slack for rounding the pointer up included */
/* from_caller: the algorithm number has a workspace argument that promises more than 0. */
dn_status dn_cpu_prepare(dn_handle *h, dn_plan *plan, dn_cpu_build build, bool from_caller);
void dn_cpu_release(dn_plan *plan);

/* --- running --- */
typedef struct dn_cpu_run {
    dn_dnnl_stream *stream;
    unsigned char *scratch;                  /* DN_CPU_ALIGN-aligned */
    void *slot[DN_ROLE_COUNT + DN_AUX_COUNT];
} dn_cpu_run;

void dn_cpu_begin(dn_cpu_run *r, dn_handle *h, const dn_plan *plan, const dn_args *a);
/* Reorders in, the primitive, reorders out. */
dn_status dn_cpu_exec(const dn_cpu_op *op, const dn_cpu_run *r);
/* 0, or oneDNN's status and the call that answered it. */
int dn_cpu_compile(dn_cpu_op *op, const char **call);
dn_status dn_cpu_fail(const char *call, int status);

/* alpha and beta of the result that dn_cpu_exec left. */
void dn_cpu_store(const dn_problem *p, const dn_cpu_state *s, const dn_cpu_run *r, const dn_args *a, dn_role out);

/* --- exact.c: oneDNN's kernels differ from cuDNN's interface, and from IEEE 754, where data is infinite or NaN (2.6: a window of
 * NaN or -infinity has maximum -FLT_MAX, a softmax with a NaN is zero elsewhere, dy * 0 stands for "no gradient"). Rows where that
 * matters look at their inputs first, one pass over memory, and hand such a call to ref's row. --- */
/* Makes s->exact, the plan of ref's first row that takes the problem. */
dn_status dn_cpu_exact_prepare(dn_handle *h, dn_plan *plan);
/* Whether every element of the roles is finite (f32 and bf16 tensors without gaps). */
bool dn_cpu_finite(const dn_problem *p, const dn_args *a, const dn_role *roles, int count);
dn_status dn_cpu_exact_run(dn_handle *h, const dn_plan *plan, const dn_args *a);

/* --- blend.c: y = alpha * r + beta * y over n dense elements of type t (f32 or bf16), r f32; y is not read where beta is 0.
 * r may be y itself where t is f32; r NULL: y is scaled by alpha. --- */
void dn_cpu_blend(dn_dtype t, int64_t n, double alpha, const float *r, double beta, void *y);

#endif
