/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * oneDNN as this engine sees it: one shape over the C interfaces of its major versions 2 (dnnl2.c: descriptors by value, two
 * steps to a primitive descriptor) and 3 (dnnl3.c: opaque descriptors, one step). The library is opened at run time; nothing
 * here comes from its headers: the names, numbers and calling shapes below are those of its documented C interface.
 *
 * Terms are oneDNN's: a memory descriptor (md) is type, dims and format; a primitive descriptor (pd) is an operation bound to
 * an implementation; a primitive is its compiled code; a memory is an md with a pointer. src and dst are what the operation
 * reads and writes forward; backward, diff_src is its result and diff_dst its input. */
#ifndef DN_CPU_DNNL_H
#define DN_CPU_DNNL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DN_DNNL_RANK 12  /* entries in its dimension arrays */

typedef struct dn_dnnl_md dn_dnnl_md;
typedef struct dn_dnnl_pd dn_dnnl_pd;
typedef struct dn_dnnl_prim dn_dnnl_prim;
typedef struct dn_dnnl_mem dn_dnnl_mem;
typedef struct dn_dnnl_attr dn_dnnl_attr;
typedef struct dn_dnnl_posts dn_dnnl_posts;
typedef struct dn_dnnl_cpu dn_dnnl_cpu;        /* its engine object: "the CPU" */
typedef struct dn_dnnl_stream dn_dnnl_stream;

/* An argument of an execution, laid out as oneDNN wants it. */
typedef struct dn_dnnl_arg {
    int arg;
    dn_dnnl_mem *mem;
} dn_dnnl_arg;

/* Element types; the same numbers in 2 and 3. */
enum { DN_DNNL_F16 = 1, DN_DNNL_BF16 = 2, DN_DNNL_F32 = 3, DN_DNNL_S32 = 4, DN_DNNL_S8 = 5, DN_DNNL_U8 = 6 };

/* Argument numbers; the same in 2 and 3. DIFF of an argument is the argument + 128, except for scale and shift. */
enum {
    DN_DNNL_ARG_SRC = 1, DN_DNNL_ARG_DST = 17, DN_DNNL_ARG_WEIGHTS = 33, DN_DNNL_ARG_BIAS = 41,
    DN_DNNL_ARG_MEAN = 49, DN_DNNL_ARG_VARIANCE = 50, DN_DNNL_ARG_SCALE = 51, DN_DNNL_ARG_SHIFT = 52,
    DN_DNNL_ARG_WORKSPACE = 64, DN_DNNL_ARG_SCRATCHPAD = 80,
    DN_DNNL_ARG_DIFF_SRC = 129, DN_DNNL_ARG_DIFF_DST = 145, DN_DNNL_ARG_DIFF_WEIGHTS = 161,
    DN_DNNL_ARG_DIFF_SCALE = 255, DN_DNNL_ARG_DIFF_SHIFT = 256
};

/* Propagation kinds; the same in 2 and 3. */
enum {
    DN_DNNL_TRAIN = 64, DN_DNNL_INFER = 96, DN_DNNL_BWD = 128, DN_DNNL_BWD_DATA = 160, DN_DNNL_BWD_WEIGHTS = 192
};

/* What is computed. The numbers are ours: version 3 renumbered the element-wise ones. */
typedef enum dn_dnnl_alg {
    DN_DNNL_NONE, DN_DNNL_CONV_DIRECT,
    DN_DNNL_POOL_MAX, DN_DNNL_POOL_AVG_PAD, DN_DNNL_POOL_AVG_NO_PAD,
    DN_DNNL_RELU, DN_DNNL_CLIP, DN_DNNL_TANH, DN_DNNL_ELU, DN_DNNL_LOGISTIC, DN_DNNL_SWISH,
    DN_DNNL_TANH_FROM_DST, DN_DNNL_ELU_FROM_DST, DN_DNNL_LOGISTIC_FROM_DST,
    DN_DNNL_SOFTMAX, DN_DNNL_LOGSOFTMAX,
    DN_DNNL_ALG_COUNT
} dn_dnnl_alg;

typedef enum dn_dnnl_kind {
    DN_DNNL_CONV, DN_DNNL_POOL, DN_DNNL_ELTWISE, DN_DNNL_SOFT, DN_DNNL_NORM
} dn_dnnl_kind;

/* Batch normalisation: statistics are inputs; scale and shift are there. */
enum { DN_DNNL_GIVEN_STATS = 1, DN_DNNL_SCALE_SHIFT = 2 };

/* One operation. Backward, src and dst stand for the forward tensors' descriptors and dsrc and ddst for those of the gradients;
 * in a convolution, where a gradient has the description of its tensor, only src, weights, bias and dst are used. */
typedef struct dn_dnnl_desc {
    dn_dnnl_kind kind;
    int prop;
    dn_dnnl_alg alg;
    const dn_dnnl_md *src, *weights, *bias, *dst, *dsrc, *ddst;
    int64_t strides[DN_DNNL_RANK], dilation[DN_DNNL_RANK], pad[DN_DNNL_RANK], window[DN_DNNL_RANK];  /* dilation 0: none */
    float alpha, beta;     /* element-wise parameters */
    float eps;
    unsigned flags;
    int axis;
    const dn_dnnl_attr *attr;
    const dn_dnnl_pd *hint;  /* the forward pd, for backward */
} dn_dnnl_desc;

/* What is done to the result before it is stored, in order. */
typedef struct dn_dnnl_post {
    dn_dnnl_alg alg;   /* DN_DNNL_NONE: add what the destination holds */
    float alpha, beta;
} dn_dnnl_post;

/* Statuses are oneDNN's: 0 is success. */
typedef struct dn_dnnl_interface {
    /* strides NULL: the format is left to oneDNN. Dims and strides have rank entries. */
    int (*md_make)(dn_dnnl_md **out, int rank, const int64_t *dims, int type, const int64_t *strides);
    void (*md_free)(dn_dnnl_md *md);
    /* 0 and *out, or a status; never picks a slower implementation in place of a failing one. */
    int (*pd_make)(dn_dnnl_pd **out, const dn_dnnl_desc *d);
    int (*post_append)(dn_dnnl_posts *posts, const dn_dnnl_post *post);
    const char *(*bind)(void *lib);  /* NULL, or the name of a function that the library lacks */
} dn_dnnl_interface;

typedef struct dn_dnnl {
    const char *missing;    /* NULL where the library is open, else the sentence why not */
    const char *file;
    int major, minor, patch;
    dn_dnnl_cpu *cpu;
    const dn_dnnl_interface *i;
    /* calls of the same shape in 2 and 3 */
    int (*stream_create)(dn_dnnl_stream **out, dn_dnnl_cpu *cpu, unsigned flags);
    int (*stream_wait)(dn_dnnl_stream *s);
    int (*stream_destroy)(dn_dnnl_stream *s);
    int (*attr_create)(dn_dnnl_attr **out);
    int (*attr_set_scratchpad_mode)(dn_dnnl_attr *a, int mode);
    int (*attr_set_post_ops)(dn_dnnl_attr *a, const dn_dnnl_posts *posts);
    int (*attr_destroy)(dn_dnnl_attr *a);
    int (*posts_create)(dn_dnnl_posts **out);
    int (*posts_destroy)(dn_dnnl_posts *p);
    int (*reorder_pd)(dn_dnnl_pd **out, const dn_dnnl_md *src, dn_dnnl_cpu *src_cpu, const dn_dnnl_md *dst, dn_dnnl_cpu *dst_cpu,
                      const dn_dnnl_attr *a);
    int (*pd_query)(const dn_dnnl_pd *pd, int what, int index, void *out);
    const dn_dnnl_md *(*pd_query_md)(const dn_dnnl_pd *pd, int what, int index);
    int (*pd_destroy)(dn_dnnl_pd *pd);
    int (*prim_create)(dn_dnnl_prim **out, const dn_dnnl_pd *pd);
    int (*prim_execute)(const dn_dnnl_prim *p, dn_dnnl_stream *s, int count, const dn_dnnl_arg *args);
    int (*prim_destroy)(dn_dnnl_prim *p);
    int (*mem_create)(dn_dnnl_mem **out, const dn_dnnl_md *md, dn_dnnl_cpu *cpu, void *ptr);
    int (*mem_set)(dn_dnnl_mem *m, void *ptr);
    int (*mem_destroy)(dn_dnnl_mem *m);
    size_t (*md_size)(const dn_dnnl_md *md);
    int (*md_equal)(const dn_dnnl_md *a, const dn_dnnl_md *b);
    /* Row-major c [m][n] = alpha a [m][k] b [k][n] + beta c, a and b turned where their letter is T; c is not read where beta is 0. */
    int (*sgemm)(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                 float beta, float *c, int64_t ldc);
    /* of the OpenMP runtime that the library uses; NULL where it has another kind of threads */
    void (*omp_set_num_threads)(int n);
    int (*omp_get_max_threads)(void);
} dn_dnnl;

extern const dn_dnnl_interface dn_dnnl2, dn_dnnl3;

/* Opens the library at the first call. Never NULL; see `missing`. */
const dn_dnnl *dn_dnnl_get(void);
/* The md that the primitive wants for this argument; it lives as long as the pd. Size 0 where there is no such argument. */
const dn_dnnl_md *dn_dnnl_arg_md(const dn_dnnl_pd *pd, int arg);
/* "jit:avx512_core" and the like. */
const char *dn_dnnl_impl(const dn_dnnl_pd *pd);
/* "unimplemented" for 3. */
const char *dn_dnnl_status_name(int status);
/* The calling thread's oneDNN calls between these use dn_thread_count() threads; its own OpenMP setting comes back after. */
int dn_dnnl_enter(void);
/* The same with one thread, for calls from within dn_parallel. */
int dn_dnnl_enter_alone(void);
void dn_dnnl_leave(int saved);

#endif
