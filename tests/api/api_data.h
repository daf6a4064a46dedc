/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tensors for the tests: any type and strides in guarded memory, read and written as dense rows of double in dimension order,
 * and the truths that results are compared with: plain loops over those rows, sums in double. */
#ifndef API_DATA_H
#define API_DATA_H

#include "api_lib.h"

#define RANK_MAX 8

typedef struct tens {
    cudnnDataType_t type;
    int rank;
    int dim[RANK_MAX];
    int64_t stride[RANK_MAX];
    int64_t count;                    /* product of dim */
    size_t bytes;                     /* of the block */
    void *ptr;
    cudnnTensorDescriptor_t desc;     /* one of the two */
    cudnnFilterDescriptor_t fdesc;
} tens;

size_t type_size(cudnnDataType_t type);
/* Largest relative rounding error of one stored value. */
double type_eps(cudnnDataType_t type);
double type_load(cudnnDataType_t type, const void *base, int64_t i);
void type_store(cudnnDataType_t type, void *base, int64_t i, double v);

/* nhwc: channel innermost. The block is filled with 0xcd (NaN in f16 and bf16, a tiny number in f32). */
tens tens_new(cudnnDataType_t type, int rank, const int *dim, bool nhwc);
tens tens_strided(cudnnDataType_t type, int rank, const int *dim, const int *stride);
tens tens_filter(cudnnDataType_t type, int rank, const int *dim, bool nhwc);
/* A description over memory that is already there (sparse mappings, offset pointers). */
tens tens_over(cudnnDataType_t type, int rank, const int *dim, const int *stride, void *ptr);
void tens_free(tens *t);              /* the descriptor; the memory goes at teardown */
#define TENS4(type, n, c, h, w) tens_new(type, 4, (const int[]){n, c, h, w}, false)

void tens_put(const tens *t, const double *dense);
double *tens_get(const tens *t);      /* after api_sync; freed at teardown of the data (data_free) */
void tens_fill(const tens *t, double v);
/* Values k/8 with |k| <= 8 from a generator with this seed: exact in every float type. */
double *tens_random(const tens *t, unsigned seed);

double *data_new(int64_t n);          /* zeroed */
void data_free(void);                 /* every row given out since the last call */
/* Calls data_free and api_teardown. */
int data_teardown(void **state);
#define DATA_TEST(f) cmocka_unit_test_teardown(f, data_teardown)

/* Fails where any |got - want| > tol * (largest |want|, at least least) + one rounding of the type, or got is not finite where
 * want is. Says which element. */
void expect_near(const char *file, int line, const char *what, const tens *t, const double *want, double tol, double least);
#define NEAR(t, want, tol) expect_near(__FILE__, __LINE__, #t, t, want, tol, 1e-30)
#define NEAR_LEAST(t, want, tol, least) expect_near(__FILE__, __LINE__, #t, t, want, tol, least)
double type_tol(cudnnDataType_t type);

/* --- convolution: 1 to 3 spatial dimensions --- */
typedef struct conv_case {
    cudnnDataType_t type, compute;
    int spatial;
    int n, c, k, groups;
    int in[3], win[3], pad[3], str[3], dil[3];
    bool nhwc;
    cudnnConvolutionMode_t mode;
    cudnnMathType_t math;
} conv_case;

typedef struct conv {
    conv_case c;
    tens x, w, y;
    cudnnConvolutionDescriptor_t desc;
    int out[3];
} conv;

/* Descriptors, guarded tensors with random x, w, y; the output size is asked of the library and checked against the formula. */
conv conv_new(const conv_case *c);
void conv_free(conv *v);
enum { DIR_FWD, DIR_DATA, DIR_FILTER };
/* The truth, dense: y of x and w, dx of w and y, dw of x and y. */
double *conv_truth(const conv *v, int dir, const double *a, const double *b);
/* Runs one direction with an algorithm and its queried workspace (guarded). NOT_SUPPORTED passes through. */
cudnnStatus_t conv_run(const conv *v, int dir, int algo, double alpha, double beta);
cudnnStatus_t conv_workspace(const conv *v, int dir, int algo, size_t *bytes);
cudnnStatus_t conv_run_with(const conv *v, int dir, int algo, double alpha, double beta, void *ws, size_t bytes);
const tens *conv_result(const conv *v, int dir);
int conv_algos(int dir);              /* how many algorithm numbers the direction has */
/* alpha or beta in the type that scalars of this data have. */
const void *scalar(cudnnDataType_t type, double v, double *room);

#endif
