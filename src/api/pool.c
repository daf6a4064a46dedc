/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling descriptors, output sizes, forward and backward. The Set calls refuse a padding as large as the window, which the vendor
 * takes: a window of padding alone has no maximum and no average, and there its answers are the least finite number, 0 or NaN. */
#include "opcall.h"

#include <string.h>

cudnnStatus_t CUDNNWINAPI cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t *poolingDesc)
{
    dn_call_begin("cudnnCreatePoolingDescriptor");
    return dn_answer(dn_object_create(&dn_pool_pool, (void **)poolingDesc, "poolingDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t poolingDesc)
{
    dn_call_begin("cudnnDestroyPoolingDescriptor");
    return dn_answer(dn_object_destroy(&dn_pool_pool, poolingDesc, "poolingDesc"));
}

/* One size, padding or stride; name is the scalar argument's, or NULL for entry i of the array argument. */
static dn_status want_at_least(int v, int least, const char *name, const char *array, int i, const char *what)
{
    if (v >= least)
        return DN_SUCCESS;
    return name ? dn_fail(DN_BAD_PARAM, "%s is %d; it must be %s", name, v, what)
                : dn_fail(DN_BAD_PARAM, "%s[%d] is %d; it must be %s", array, i, v, what);
}

static dn_status want_less_than_window(int pad, int window, const char *name, int i)
{
    static const char rule[] = "it must be less than the window, or a window would hold padding alone; the window is";
    if (pad < window)
        return DN_SUCCESS;
    return name ? dn_fail(DN_BAD_PARAM, "%s is %d; %s %d", name, pad, rule, window)
                : dn_fail(DN_BAD_PARAM, "paddingA[%d] is %d; %s %d", i, pad, rule, window);
}

/* names: of window, padding and stride, each for two dimensions, or NULL in the Nd call. */
static dn_status set_pooling(cudnnPoolingDescriptor_t poolingDesc, dn_pool_param q, const char *const (*names)[2])
{
    dn_pool_desc *d = dn_object_of(&dn_pool_pool, poolingDesc, "poolingDesc");
    if (!d || dn_want_range(q.mode, 0, 3, "mode", "a cudnnPoolingMode_t, 0 to 3")
        || dn_want_range(q.nan, 0, 1, "maxpoolingNanOpt", "0 or 1"))
        return DN_BAD_PARAM;
    for (int i = 0; i < q.spatial; i++)
        if (want_at_least(q.window[i], 1, names ? names[0][i] : NULL, "windowDimA", i, "1 or more")
            || want_at_least(q.pad[i], 0, names ? names[1][i] : NULL, "paddingA", i, "0 or more")
            || want_less_than_window(q.pad[i], q.window[i], names ? names[1][i] : NULL, i)
            || want_at_least(q.stride[i], 1, names ? names[2][i] : NULL, "strideA", i, "1 or more"))
            return DN_BAD_PARAM;
    d->p = q;
    d->set = 1;
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t mode,
                                                      cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight, int windowWidth,
                                                      int verticalPadding, int horizontalPadding, int verticalStride,
                                                      int horizontalStride)
{
    dn_call_begin("cudnnSetPooling2dDescriptor");
    static const char *const names[3][2] = {
        { "windowHeight", "windowWidth" }, { "verticalPadding", "horizontalPadding" }, { "verticalStride", "horizontalStride" },
    };
    const dn_pool_param q = {
        .spatial = 2, .mode = (int32_t)mode, .nan = (int32_t)maxpoolingNanOpt, .window = { windowHeight, windowWidth },
        .pad = { verticalPadding, horizontalPadding }, .stride = { verticalStride, horizontalStride },
    };
    return dn_answer(set_pooling(poolingDesc, q, names));
}

cudnnStatus_t CUDNNWINAPI cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc, const cudnnPoolingMode_t mode,
                                                      const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims,
                                                      const int windowDimA[], const int paddingA[], const int strideA[])
{
    dn_call_begin("cudnnSetPoolingNdDescriptor");
    if (nbDims < 1)
        return dn_answer(dn_fail(DN_BAD_PARAM, "nbDims is %d; it must be 1 to %d", nbDims, DN_SPATIAL_MAX));
    if (nbDims > DN_SPATIAL_MAX)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "nbDims is %d; a window has at most %d dimensions", nbDims, DN_SPATIAL_MAX));
    if (dn_want(windowDimA, "windowDimA") || dn_want(paddingA, "paddingA") || dn_want(strideA, "strideA"))
        return dn_answer(DN_BAD_PARAM);
    dn_pool_param q = { .spatial = nbDims, .mode = (int32_t)mode, .nan = (int32_t)maxpoolingNanOpt };
    for (int i = 0; i < nbDims; i++) {
        q.window[i] = windowDimA[i];
        q.pad[i] = paddingA[i];
        q.stride[i] = strideA[i];
    }
    return dn_answer(set_pooling(poolingDesc, q, NULL));
}

cudnnStatus_t CUDNNWINAPI cudnnGetPooling2dDescriptor(const cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t *mode,
                                                      cudnnNanPropagation_t *maxpoolingNanOpt, int *windowHeight, int *windowWidth,
                                                      int *verticalPadding, int *horizontalPadding, int *verticalStride,
                                                      int *horizontalStride)
{
    dn_call_begin("cudnnGetPooling2dDescriptor");
    const dn_pool_desc *d = dn_object_of(&dn_pool_pool, poolingDesc, "poolingDesc");
    if (!d || dn_want(mode, "mode") || dn_want(maxpoolingNanOpt, "maxpoolingNanOpt") || dn_want(windowHeight, "windowHeight")
        || dn_want(windowWidth, "windowWidth") || dn_want(verticalPadding, "verticalPadding")
        || dn_want(horizontalPadding, "horizontalPadding") || dn_want(verticalStride, "verticalStride")
        || dn_want(horizontalStride, "horizontalStride"))
        return dn_answer(DN_BAD_PARAM);
    *mode = (cudnnPoolingMode_t)d->p.mode;
    *maxpoolingNanOpt = (cudnnNanPropagation_t)d->p.nan;
    *windowHeight = d->p.window[0];
    *windowWidth = d->p.window[1];
    *verticalPadding = d->p.pad[0];
    *horizontalPadding = d->p.pad[1];
    *verticalStride = d->p.stride[0];
    *horizontalStride = d->p.stride[1];
    return dn_answer(DN_SUCCESS);
}

/* Writes nbDimsRequested entries of each array, those past the window's dimensions as 0, and the true count in nbDims. */
cudnnStatus_t CUDNNWINAPI cudnnGetPoolingNdDescriptor(const cudnnPoolingDescriptor_t poolingDesc, int nbDimsRequested,
                                                      cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt, int *nbDims,
                                                      int windowDimA[], int paddingA[], int strideA[])
{
    dn_call_begin("cudnnGetPoolingNdDescriptor");
    const dn_pool_desc *d = dn_object_of(&dn_pool_pool, poolingDesc, "poolingDesc");
    if (!d || dn_want(mode, "mode") || dn_want(maxpoolingNanOpt, "maxpoolingNanOpt") || dn_want(nbDims, "nbDims"))
        return dn_answer(DN_BAD_PARAM);
    if (nbDimsRequested > DN_SPATIAL_MAX)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "nbDimsRequested is %d; a window has at most %d dimensions", nbDimsRequested,
                                 DN_SPATIAL_MAX));
    if (nbDimsRequested > 0
        && (dn_want(windowDimA, "windowDimA") || dn_want(paddingA, "paddingA") || dn_want(strideA, "strideA")))
        return dn_answer(DN_BAD_PARAM);
    *mode = (cudnnPoolingMode_t)d->p.mode;
    *maxpoolingNanOpt = (cudnnNanPropagation_t)d->p.nan;
    *nbDims = d->p.spatial;
    for (int i = 0; i < nbDimsRequested; i++) {
        windowDimA[i] = d->p.window[i];
        paddingA[i] = d->p.pad[i];
        strideA[i] = d->p.stride[i];
    }
    return dn_answer(DN_SUCCESS);
}

/* The dims of the output into out, as many as x has. */
static dn_status output_dims(const dn_pool_desc *d, const dn_tensor *x, int *out)
{
    if (x->rank != d->p.spatial + 2)
        return dn_fail(DN_BAD_PARAM, "inputTensorDesc has %d dimensions; a window of %d needs %d", x->rank, d->p.spatial,
                       d->p.spatial + 2);
    out[0] = (int)x->dims[0];
    out[1] = (int)x->dims[1];
    for (int i = 0; i < d->p.spatial; i++) {
        int64_t size = dn_conv_out_dim(x->dims[2 + i], d->p.window[i], d->p.pad[i], d->p.stride[i], 1);
        if (size < 1)
            return dn_fail(DN_BAD_PARAM, "dimension %d of the output would be %lld: inputTensorDesc has %lld there, the window is %d,"
                           " the padding %d", 2 + i, (long long)size, (long long)x->dims[2 + i], d->p.window[i], d->p.pad[i]);
        if (size > INT32_MAX)
            return dn_fail(DN_BAD_PARAM, "dimension %d of the output is %lld, more than an int holds", 2 + i, (long long)size);
        out[2 + i] = (int)size;
    }
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
                                                            const cudnnTensorDescriptor_t inputTensorDesc, int nbDims,
                                                            int outputTensorDimA[])
{
    dn_call_begin("cudnnGetPoolingNdForwardOutputDim");
    int out[DN_RANK_MAX];
    const dn_pool_desc *d = dn_pool_of(poolingDesc, "poolingDesc");
    const dn_tensor *x = d ? dn_tensor_of(inputTensorDesc, "inputTensorDesc") : NULL;
    if (!d || !x || dn_want(outputTensorDimA, "outputTensorDimA"))
        return dn_answer(DN_BAD_PARAM);
    if (nbDims != x->rank)
        return dn_answer(dn_fail(DN_BAD_PARAM, "nbDims is %d, inputTensorDesc has %d dimensions; they must be equal", nbDims, x->rank));
    dn_status st = output_dims(d, x, out);
    if (st == DN_SUCCESS)
        memcpy(outputTensorDimA, out, sizeof(int) * (size_t)nbDims);
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
                                                            const cudnnTensorDescriptor_t inputTensorDesc, int *n, int *c, int *h,
                                                            int *w)
{
    dn_call_begin("cudnnGetPooling2dForwardOutputDim");
    int out[DN_RANK_MAX];
    const dn_pool_desc *d = dn_pool_of(poolingDesc, "poolingDesc");
    const dn_tensor *x = d ? dn_tensor_of(inputTensorDesc, "inputTensorDesc") : NULL;
    if (!d || !x || dn_want(n, "n") || dn_want(c, "c") || dn_want(h, "h") || dn_want(w, "w"))
        return dn_answer(DN_BAD_PARAM);
    if (d->p.spatial != 2)
        return dn_answer(dn_fail(DN_BAD_PARAM, "poolingDesc has a window of %d dimensions; this call takes 2", d->p.spatial));
    dn_status st = output_dims(d, x, out);
    if (st == DN_SUCCESS) {
        *n = out[0];
        *c = out[1];
        *h = out[2];
        *w = out[3];
    }
    return dn_answer(st);
}

static void begin(dn_opcall *c, cudnnHandle_t handle, const cudnnPoolingDescriptor_t poolingDesc, dn_dir dir)
{
    dn_opcall_begin(c, handle, DN_OP_POOL, dir);
    const dn_pool_desc *d = c->st == DN_SUCCESS ? dn_pool_of(poolingDesc, "poolingDesc") : NULL;
    if (d)
        c->p.u.pool = d->p;
    else
        c->st = DN_BAD_PARAM;
}

cudnnStatus_t CUDNNWINAPI cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
                                              const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                              const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_call_begin("cudnnPoolingForward");
    dn_opcall c;
    begin(&c, handle, poolingDesc, DN_DIR_FWD);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_factors(&c, DN_Y, alpha, beta);
    if (c.st == DN_SUCCESS && x == y)
        c.p.flags |= DN_F_IN_PLACE;
    return dn_opcall_run(&c, dn_pool_check);
}

/* An average reads neither x nor y, so both may be NULL then. */
cudnnStatus_t CUDNNWINAPI cudnnPoolingBackward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
                                               const cudnnTensorDescriptor_t yDesc, const void *y,
                                               const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                               const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                               const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    dn_call_begin("cudnnPoolingBackward");
    dn_opcall c;
    begin(&c, handle, poolingDesc, DN_DIR_BWD_DATA);
    bool max = c.p.u.pool.mode == 0 || c.p.u.pool.mode == 3;
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", max);
    dn_opcall_tensor(&c, DN_DY, dyDesc, dy, "dy", true);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", max);
    dn_opcall_tensor(&c, DN_DX, dxDesc, dx, "dx", true);
    dn_opcall_factors(&c, DN_DX, alpha, beta);
    if (c.st == DN_SUCCESS && (dx == dy || (max && (dx == x || dx == y))))
        c.p.flags |= DN_F_IN_PLACE;
    return dn_opcall_run(&c, dn_pool_check);
}
