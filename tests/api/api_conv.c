/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One convolution as a test sees it, and its truth: y[n,k,o] = sum over c,r of x[n, c, o * stride - pad + r * dilation] * w[k,c,r],
 * with r counted from the end where the mode is CONVOLUTION. All three directions are the same sum over the same triples. */
#include "api_data.h"

#include <math.h>
#include <string.h>

conv conv_new(const conv_case *c)
{
    conv v = {.c = *c};
    const int rank = c->spatial + 2;
    int xd[5] = {c->n, c->c}, wd[5] = {c->k, c->c / c->groups}, yd[5] = {c->n, c->k}, out[5];
    for (int i = 0; i < c->spatial; i++) {
        xd[2 + i] = c->in[i];
        wd[2 + i] = c->win[i];
        v.out[i] = yd[2 + i] = (c->in[i] + 2 * c->pad[i] - ((c->win[i] - 1) * c->dil[i] + 1)) / c->str[i] + 1;
    }
    v.x = tens_new(c->type, rank, xd, c->nhwc);
    v.w = tens_filter(c->type, rank, wd, c->nhwc);
    v.y = tens_new(c->type, rank, yd, c->nhwc);
    CALL(cudnnCreateConvolutionDescriptor, (&v.desc));
    CALL(cudnnSetConvolutionNdDescriptor, (v.desc, c->spatial, c->pad, c->str, c->dil, c->mode, c->compute));
    CALL(cudnnSetConvolutionGroupCount, (v.desc, c->groups));
    CALL(cudnnSetConvolutionMathType, (v.desc, c->math));
    CALL(cudnnGetConvolutionNdForwardOutputDim, (v.desc, v.x.desc, v.w.fdesc, rank, out));
    assert_memory_equal(out, yd, (size_t)rank * sizeof *out);
    tens_random(&v.x, 1);
    tens_random(&v.w, 2);
    tens_random(&v.y, 3);
    return v;
}

void conv_free(conv *v)
{
    tens_free(&v->x);
    tens_free(&v->w);
    tens_free(&v->y);
    CALL(cudnnDestroyConvolutionDescriptor, (v->desc));
}

/* The shape with three spatial dimensions, leading ones of size 1. */
typedef struct shape3 {
    int in[3], win[3], out[3], pad[3], str[3], dil[3];
} shape3;

static shape3 widen(const conv *v)
{
    shape3 s = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
    const int from = 3 - v->c.spatial;
    for (int i = 0; i < v->c.spatial; i++) {
        s.in[from + i] = v->c.in[i];
        s.win[from + i] = v->c.win[i];
        s.out[from + i] = v->out[i];
        s.pad[from + i] = v->c.pad[i];
        s.str[from + i] = v->c.str[i];
        s.dil[from + i] = v->c.dil[i];
    }
    return s;
}

static void add(int dir, const double *a, const double *b, double *r, int64_t xi, int64_t wi, int64_t yi)
{
    if (dir == DIR_FWD)
        r[yi] += a[xi] * b[wi];
    else if (dir == DIR_DATA)
        r[xi] += a[wi] * b[yi];
    else
        r[wi] += a[xi] * b[yi];
}

/* All window positions of one output pixel, image and pair of channels. xp, wp, yp: offsets of the planes. */
static void window(const shape3 *s, bool flip, int dir, const int o[3], const double *a, const double *b, double *r, int64_t xp,
                   int64_t wp, int64_t yp)
{
    int64_t yi = yp + ((int64_t)o[0] * s->out[1] + o[1]) * s->out[2] + o[2];
    int i[3], t[3];
    for (t[0] = 0; t[0] < s->win[0]; t[0]++)
        for (t[1] = 0; t[1] < s->win[1]; t[1]++)
            for (t[2] = 0; t[2] < s->win[2]; t[2]++) {
                bool inside = true;
                int64_t xi = 0, wi = 0;
                for (int d = 0; d < 3; d++) {
                    i[d] = o[d] * s->str[d] - s->pad[d] + t[d] * s->dil[d];
                    inside &= i[d] >= 0 && i[d] < s->in[d];
                    xi = xi * s->in[d] + i[d];
                    wi = wi * s->win[d] + (flip ? s->win[d] - 1 - t[d] : t[d]);
                }
                if (inside)
                    add(dir, a, b, r, xp + xi, wp + wi, yi);
            }
}

double *conv_truth(const conv *v, int dir, const double *a, const double *b)
{
    const shape3 s = widen(v);
    const conv_case *c = &v->c;
    const int cg = c->c / c->groups, kg = c->k / c->groups;
    const int64_t xs = (int64_t)s.in[0] * s.in[1] * s.in[2], ws = (int64_t)s.win[0] * s.win[1] * s.win[2];
    const int64_t ys = (int64_t)s.out[0] * s.out[1] * s.out[2];
    double *r = data_new(conv_result(v, dir)->count);
    int o[3];
    for (int n = 0; n < c->n; n++)
        for (int k = 0; k < c->k; k++)
            for (int ci = 0; ci < cg; ci++)
                for (o[0] = 0; o[0] < s.out[0]; o[0]++)
                    for (o[1] = 0; o[1] < s.out[1]; o[1]++)
                        for (o[2] = 0; o[2] < s.out[2]; o[2]++)
                            window(&s, c->mode == CUDNN_CONVOLUTION, dir, o, a, b, r, ((int64_t)n * c->c + k / kg * cg + ci) * xs,
                                   ((int64_t)k * cg + ci) * ws, ((int64_t)n * c->k + k) * ys);
    return r;
}

const tens *conv_result(const conv *v, int dir)
{
    return dir == DIR_FWD ? &v->y : dir == DIR_DATA ? &v->x : &v->w;
}

int conv_algos(int dir)
{
    return dir == DIR_FWD ? CUDNN_CONVOLUTION_FWD_ALGO_COUNT : dir == DIR_DATA ? CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT :
           CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;
}

cudnnStatus_t conv_workspace(const conv *v, int dir, int algo, size_t *bytes)
{
    cudnnHandle_t h = api_handle();
    *bytes = 0;
    if (dir == DIR_FWD)
        return api.cudnnGetConvolutionForwardWorkspaceSize(h, v->x.desc, v->w.fdesc, v->desc, v->y.desc, algo, bytes);
    if (dir == DIR_DATA)
        return api.cudnnGetConvolutionBackwardDataWorkspaceSize(h, v->w.fdesc, v->y.desc, v->desc, v->x.desc, algo, bytes);
    return api.cudnnGetConvolutionBackwardFilterWorkspaceSize(h, v->x.desc, v->y.desc, v->desc, v->w.fdesc, algo, bytes);
}

cudnnStatus_t conv_run_with(const conv *v, int dir, int algo, double alpha, double beta, void *ws, size_t bytes)
{
    cudnnHandle_t h = api_handle();
    double ar, br;
    const void *a = scalar(v->c.type, alpha, &ar), *b = scalar(v->c.type, beta, &br);
    if (dir == DIR_FWD)
        return api.cudnnConvolutionForward(h, a, v->x.desc, v->x.ptr, v->w.fdesc, v->w.ptr, v->desc, algo, ws, bytes, b, v->y.desc,
                                           v->y.ptr);
    if (dir == DIR_DATA)
        return api.cudnnConvolutionBackwardData(h, a, v->w.fdesc, v->w.ptr, v->y.desc, v->y.ptr, v->desc, algo, ws, bytes, b,
                                                v->x.desc, v->x.ptr);
    return api.cudnnConvolutionBackwardFilter(h, a, v->x.desc, v->x.ptr, v->y.desc, v->y.ptr, v->desc, algo, ws, bytes, b,
                                              v->w.fdesc, v->w.ptr);
}

cudnnStatus_t conv_run(const conv *v, int dir, int algo, double alpha, double beta)
{
    size_t bytes;
    cudnnStatus_t st = conv_workspace(v, dir, algo, &bytes);
    if (st != OK)
        return st;
    return conv_run_with(v, dir, algo, alpha, beta, bytes ? api_alloc_end(bytes, 16) : NULL, bytes);
}
