/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of fused operations. Rows were compared with the vendor's 9.19: the packs without a GPU, plans on one. */
#include "misuse.h"

#include <string.h>

#define STRICT_REASON "the vendor's takes it and computes something else, or faults"
#define READ_REASON "the vendor's cannot read back what was set for this type"

static void life(cudnnFusedOpsConstParamPack_t k, cudnnFusedOpsVariantParamPack_t v, cudnnFusedOpsPlan_t plan)
{
    cudnnFusedOpsConstParamPack_t k2;
    cudnnFusedOpsVariantParamPack_t v2;
    cudnnFusedOpsPlan_t p2;
    ROW(cudnnCreateFusedOpsConstParamPack, (NULL, 0), BAD, "constPack is NULL");
    ROW(cudnnCreateFusedOpsConstParamPack, (&k2, 7), BAD, "ops is 7", "0 to 6");
    ROW(cudnnCreateFusedOpsConstParamPack, (&k2, (cudnnFusedOps_t)-1), BAD, "ops is -1");
    ROW(cudnnCreateFusedOpsVariantParamPack, (NULL, 0), BAD, "varPack is NULL");
    ROW(cudnnCreateFusedOpsVariantParamPack, (&v2, 8), BAD, "ops is 8");
    ROW(cudnnCreateFusedOpsPlan, (NULL, 0), BAD, "plan is NULL");
    ROW(cudnnCreateFusedOpsPlan, (&p2, 7), BAD, "ops is 7");
    ROW(cudnnDestroyFusedOpsConstParamPack, (NULL), OK, "");
    ROW(cudnnDestroyFusedOpsVariantParamPack, (NULL), OK, "");
    ROW(cudnnDestroyFusedOpsPlan, (NULL), OK, "");
    if (!api_ours)
        return;
    ROW(cudnnDestroyFusedOpsConstParamPack, ((cudnnFusedOpsConstParamPack_t)(void *)v), BAD, "variant pack", "constant pack");
    ROW(cudnnDestroyFusedOpsVariantParamPack, ((cudnnFusedOpsVariantParamPack_t)(void *)plan), BAD, "fused operations plan");
    ROW(cudnnDestroyFusedOpsPlan, ((cudnnFusedOpsPlan_t)(void *)k), BAD, "constant pack");
    CALL(cudnnCreateFusedOpsPlan, (&p2, 0));
    CALL(cudnnDestroyFusedOpsPlan, (p2));
    ROW(cudnnDestroyFusedOpsPlan, (p2), BAD, "destroyed");
}

static void const_pack(cudnnFusedOpsConstParamPack_t k, objects *o)
{
    int null = 7, place = 1, mode = 9;
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (NULL, CUDNN_PARAM_XDESC, o->x), BAD, "constPack is NULL");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, (cudnnFusedOpsConstParamLabel_t)39, o->x), BAD, "paramLabel is 39");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, (cudnnFusedOpsConstParamLabel_t)-1, o->x), BAD, "paramLabel is -1");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_ZDESC, o->x), BAD, "CUDNN_PARAM_ZDESC", "type 0");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_DWDATA_PLACEHOLDER, &place), BAD, "CUDNN_PARAM_DWDATA_PLACEHOLDER");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, NULL), OK, "");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->never), OK, "");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_BN_MODE, &mode), OK, "");
    ROW(cudnnGetFusedOpsConstParamPackAttribute, (NULL, CUDNN_PARAM_XDESC, o->t, &null), BAD, "constPack is NULL");
    ROW(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, NULL, &null), BAD, "param is NULL");
    ROW(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->t, NULL), BAD, "isNULL is NULL");
    ROW(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_DXDESC, o->t, &null), BAD, "CUDNN_PARAM_DXDESC");
    CALL(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, NULL));
    CALL(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->t, &null));
    assert_int_equal(null, 1);
    CALL(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_YDATA_PLACEHOLDER, &place));
    place = 0;
    CALL(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_YDATA_PLACEHOLDER, &place, &null));
    assert_int_equal(null, 0);
    assert_int_equal(place, 1);
    if (!api_ours)
        return;
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->w), BAD, "param", "filter descriptor");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_CONV_DESC, o->conv_dead), BAD, "param", "destroyed");
    ROW(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_WDESC, o->x, &null), BAD, "param", "filter descriptor");
}

/* What a pack holds is a copy. */
static void copies(cudnnFusedOpsConstParamPack_t k, objects *o)
{
    cudnnDataType_t type;
    int null, d[8];
    CALL(cudnnSetTensor4dDescriptor, (o->t, NHWC, F16, 2, 8, 3, 4));
    CALL(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->t));
    CALL(cudnnSetTensor4dDescriptor, (o->t, NCHW, F32, 1, 1, 1, 1));
    CALL(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->t, &null));
    CALL(cudnnGetTensor4dDescriptor, (o->t, &type, d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6, d + 7));
    assert_int_equal(null, 0);
    assert_int_equal(type, F16);
    const int want[8] = {2, 8, 3, 4, 96, 1, 32, 8};
    assert_memory_equal(d, want, sizeof want);
}

static void variant_pack(cudnnFusedOpsVariantParamPack_t v)
{
    size_t size = 5;
    void *p = NULL;
    char byte;
    double eps = 1;
    ROW(cudnnSetFusedOpsVariantParamPackAttribute, (NULL, CUDNN_PTR_XDATA, &byte), BAD, "varPack is NULL");
    ROW(cudnnSetFusedOpsVariantParamPackAttribute, (v, (cudnnFusedOpsVariantParamLabel_t)24, &byte), BAD, "paramLabel is 24");
    ROW(cudnnSetFusedOpsVariantParamPackAttribute, (v, (cudnnFusedOpsVariantParamLabel_t)104, &eps), BAD, "paramLabel is 104");
    ROW(cudnnSetFusedOpsVariantParamPackAttribute, (v, CUDNN_PTR_ZDATA, &byte), BAD, "paramLabel is 16", "type 0");
    ROW(cudnnSetFusedOpsVariantParamPackAttribute, (v, CUDNN_SCALAR_DOUBLE_BN_EPSILON, &eps), BAD, "paramLabel is 103");
    ROW(cudnnSetFusedOpsVariantParamPackAttribute, (v, CUDNN_PTR_XDATA, NULL), OK, "");
    ROW(cudnnSetFusedOpsVariantParamPackAttribute, (v, CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, NULL), OK, "");
    ROW(cudnnGetFusedOpsVariantParamPackAttribute, (NULL, CUDNN_PTR_XDATA, &p), BAD, "varPack is NULL");
    ROW(cudnnGetFusedOpsVariantParamPackAttribute, (v, CUDNN_PTR_XDATA, NULL), BAD, "ptr is NULL");
    ROW(cudnnGetFusedOpsVariantParamPackAttribute, (v, CUDNN_PTR_DXDATA, &p), BAD, "paramLabel is 20");
    CALL(cudnnSetFusedOpsVariantParamPackAttribute, (v, CUDNN_PTR_YDATA, &byte));
    CALL(cudnnGetFusedOpsVariantParamPackAttribute, (v, CUDNN_PTR_YDATA, &p));
    assert_ptr_equal(p, &byte);
    CALL(cudnnSetFusedOpsVariantParamPackAttribute, (v, CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &size));
    size = 0;
    CALL(cudnnGetFusedOpsVariantParamPackAttribute, (v, CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &size));
    assert_int_equal(size, 5);
}

static void read_back(objects *o)
{
    cudnnFusedOpsConstParamPack_t k;
    int null;
    CALL(cudnnCreateFusedOpsConstParamPack, (&k, CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION));
    CALL(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->x));
    ROW_V(cudnnGetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_XDESC, o->t, &null), OK, BAD, READ_REASON, "");
    ROW(cudnnSetFusedOpsConstParamPackAttribute, (k, CUDNN_PARAM_BN_MODE, &null), BAD, "CUDNN_PARAM_BN_MODE", "type 4");
    CALL(cudnnDestroyFusedOpsConstParamPack, (k));
}

void misuse_fused_packs(void **state)
{
    (void)state;
    objects o;
    cudnnFusedOpsConstParamPack_t k;
    cudnnFusedOpsVariantParamPack_t v;
    cudnnFusedOpsPlan_t plan;
    objects_make(&o);
    CALL(cudnnCreateFusedOpsConstParamPack, (&k, CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS));
    CALL(cudnnCreateFusedOpsVariantParamPack, (&v, CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS));
    CALL(cudnnCreateFusedOpsPlan, (&plan, CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS));
    life(k, v, plan);
    const_pack(k, &o);
    copies(k, &o);
    variant_pack(v);
    read_back(&o);
    CALL(cudnnDestroyFusedOpsConstParamPack, (k));
    CALL(cudnnDestroyFusedOpsVariantParamPack, (v));
    CALL(cudnnDestroyFusedOpsPlan, (plan));
    objects_free(&o);
    api_rows_done();
}

/* --- plans --- */

static void set(cudnnFusedOpsConstParamPack_t k, int label, const void *param)
{
    CALL(cudnnSetFusedOpsConstParamPackAttribute, (k, (cudnnFusedOpsConstParamLabel_t)label, param));
}

/* One label away: the plan is refused; then it is back. */
#define WITHOUT(k, plan, label, was, ...)                                          \
    do {                                                                           \
        set(k, label, NULL);                                                       \
        ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, __VA_ARGS__);         \
        set(k, label, was);                                                        \
    } while (0)

static void final_plan(cudnnHandle_t h, objects *o, cudnnFusedOpsConstParamPack_t k, cudnnFusedOpsPlan_t plan)
{
    static const int places[] = {CUDNN_PARAM_YSUM_PLACEHOLDER, CUDNN_PARAM_YSQSUM_PLACEHOLDER, CUDNN_PARAM_BN_SCALE_PLACEHOLDER,
                                 CUDNN_PARAM_BN_BIAS_PLACEHOLDER, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER};
    cudnnFusedOpsPointerPlaceHolder_t wide = CUDNN_PTR_16B_ALIGNED;
    cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;
    size_t size = 3;
    set(k, CUDNN_PARAM_BN_MODE, &mode);
    set(k, CUDNN_PARAM_YSTATS_DESC, o->chan);
    set(k, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, o->chan);
    set(k, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, o->chan);
    for (int i = 0; i < 6; i++)
        set(k, places[i], &wide);
    WITHOUT(k, plan, CUDNN_PARAM_YSTATS_DESC, o->chan, "CUDNN_PARAM_YSTATS_DESC is not set");
    WITHOUT(k, plan, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, o->chan, "CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC is not set");
    WITHOUT(k, plan, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, o->chan, "CUDNN_PARAM_BN_EQSCALEBIAS_DESC is not set");
    for (volatile int i = 0; i < 4; i++)
        WITHOUT(k, plan, places[i], &wide, "CUDNN_PTR_NULL");
    set(k, CUDNN_PARAM_YSTATS_DESC, o->bias);
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, "CUDNN_PARAM_YSTATS_DESC");
    set(k, CUDNN_PARAM_YSTATS_DESC, o->chan);
    ROW(cudnnMakeFusedOpsPlan, (NULL, plan, k, &size), BAD, "handle is NULL");
    ROW(cudnnMakeFusedOpsPlan, (h, NULL, k, &size), BAD, "plan is NULL");
    ROW(cudnnMakeFusedOpsPlan, (h, plan, NULL, &size), BAD, "constPack is NULL");
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, NULL), BAD, "workspaceSizeInBytes is NULL");
    CALL(cudnnMakeFusedOpsPlan, (h, plan, k, &size));
    assert_int_equal(size, 0);
    if (!api_ours)
        return;
    int bad = 3;
    set(k, places[0], &bad);
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, "CUDNN_PARAM_YSUM_PLACEHOLDER is 3");
    set(k, CUDNN_PARAM_BN_MODE, &bad);
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, "CUDNN_PARAM_BN_MODE is 3");
    set(k, CUDNN_PARAM_BN_MODE, &mode);
    set(k, places[0], &wide);
    set(k, CUDNN_PARAM_YSTATS_DESC, o->never);
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, "CUDNN_PARAM_YSTATS_DESC", "never set");
}

static void final_run(cudnnHandle_t h, cudnnFusedOpsPlan_t plan, cudnnFusedOpsVariantParamPack_t v, char *data)
{
    static const int pointers[] = {CUDNN_PTR_YSUM, CUDNN_PTR_YSQSUM, CUDNN_PTR_BN_SCALE, CUDNN_PTR_BN_BIAS};
    int64_t count = 10;
    double eps = 1e-3, negative = -1;
#define SET(label, value) CALL(cudnnSetFusedOpsVariantParamPackAttribute, (v, label, value))
    for (int i = 0; i < 4; i++)
        SET((cudnnFusedOpsVariantParamLabel_t)pointers[i], data + 64 * i);
    SET(CUDNN_PTR_BN_EQSCALE, data + 256);
    SET(CUDNN_PTR_BN_EQBIAS, data + 320);
    SET(CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT, &count);
    SET(CUDNN_SCALAR_DOUBLE_BN_EPSILON, &negative);
    ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "CUDNN_SCALAR_DOUBLE_BN_EPSILON is -1");
    SET(CUDNN_SCALAR_DOUBLE_BN_EPSILON, &eps);
    ROW(cudnnFusedOpsExecute, (NULL, plan, v), BAD, "handle is NULL");
    ROW(cudnnFusedOpsExecute, (h, NULL, v), BAD, "plan is NULL");
    ROW(cudnnFusedOpsExecute, (h, plan, NULL), BAD, "varPack is NULL");
    CALL(cudnnFusedOpsExecute, (h, plan, v));
    count = 0;
    SET(CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT, &count);
    ROW_V(cudnnFusedOpsExecute, (h, plan, v), BAD, OK, STRICT_REASON, "CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT is 0");
    count = 10;
    SET(CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT, &count);
    SET(CUDNN_PTR_BN_EQSCALE, data + 260);
    ROW_V(cudnnFusedOpsExecute, (h, plan, v), BAD, OK, STRICT_REASON, "CUDNN_PTR_BN_EQSCALE", "16");
    SET(CUDNN_PTR_BN_EQSCALE, data + 256);
    for (volatile int i = 0; api_ours && i < 4; i++) {
        SET((cudnnFusedOpsVariantParamLabel_t)pointers[i], NULL);
        ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "CUDNN_PTR_", "is NULL");
        SET((cudnnFusedOpsVariantParamLabel_t)pointers[i], data + 64 * i);
    }
    SET(CUDNN_PTR_BN_EQBIAS, NULL);  /* a result that is not wanted after all */
    CALL(cudnnFusedOpsExecute, (h, plan, v));
#undef SET
}

/* A convolution of x and w with a scale. */
static void conv_plan(cudnnHandle_t h, objects *o, char *data)
{
    cudnnFusedOpsConstParamPack_t k;
    cudnnFusedOpsVariantParamPack_t v;
    cudnnFusedOpsPlan_t plan;
    cudnnFusedOpsPointerPlaceHolder_t one = CUDNN_PTR_ELEM_ALIGNED;
    cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;
    size_t size = 0, small;
    CALL(cudnnCreateFusedOpsConstParamPack, (&k, CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS));
    CALL(cudnnCreateFusedOpsVariantParamPack, (&v, CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS));
    CALL(cudnnCreateFusedOpsPlan, (&plan, CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS));
    set(k, CUDNN_PARAM_BN_MODE, &mode);
    set(k, CUDNN_PARAM_XDESC, o->x), set(k, CUDNN_PARAM_WDESC, o->w), set(k, CUDNN_PARAM_YDESC, o->y), set(k, CUDNN_PARAM_CONV_DESC, o->conv);
    set(k, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, o->chan), set(k, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, &one);
    set(k, CUDNN_PARAM_XDATA_PLACEHOLDER, &one), set(k, CUDNN_PARAM_WDATA_PLACEHOLDER, &one), set(k, CUDNN_PARAM_YDATA_PLACEHOLDER, &one);
    WITHOUT(k, plan, CUDNN_PARAM_XDESC, o->x, "CUDNN_PARAM_XDESC is not set");
    WITHOUT(k, plan, CUDNN_PARAM_WDESC, o->w, "CUDNN_PARAM_WDESC is not set");
    WITHOUT(k, plan, CUDNN_PARAM_YDESC, o->y, "CUDNN_PARAM_YDESC is not set");
    WITHOUT(k, plan, CUDNN_PARAM_CONV_DESC, o->conv, "CUDNN_PARAM_CONV_DESC is not set");
    set(k, CUDNN_PARAM_YDESC, o->x);
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, "yDesc");
    set(k, CUDNN_PARAM_YDESC, o->y);
    set(k, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, o->bias);
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, "CUDNN_PARAM_BN_EQSCALEBIAS_DESC");
    set(k, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, o->chan);
    set(k, CUDNN_PARAM_BN_MODE, NULL);  /* per activation */
    ROW(cudnnMakeFusedOpsPlan, (h, plan, k, &size), BAD, "CUDNN_PARAM_BN_EQSCALEBIAS_DESC", "CUDNN_PARAM_BN_MODE 0");
    set(k, CUDNN_PARAM_BN_MODE, &mode);
    if (api_ours) {
        CALL(cudnnMakeFusedOpsPlan, (h, plan, k, &size));
        assert_true(size >= 2 * 4 * 5 * 5 * 4);
        void *ws = api_alloc(size);
        small = size - 1;
#define SET(label, value) CALL(cudnnSetFusedOpsVariantParamPackAttribute, (v, label, value))
        SET(CUDNN_PTR_XDATA, data), SET(CUDNN_PTR_WDATA, data + 1024), SET(CUDNN_PTR_YDATA, data + 2048), SET(CUDNN_PTR_BN_EQSCALE, data + 3072);
        SET(CUDNN_PTR_WORKSPACE, ws), SET(CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &small);
        ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES");
        SET(CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &size), SET(CUDNN_PTR_WORKSPACE, NULL);
        ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "CUDNN_PTR_WORKSPACE is NULL");
        SET(CUDNN_PTR_WORKSPACE, ws), SET(CUDNN_PTR_YDATA, data + 1024);
        ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "memory of its own");
        SET(CUDNN_PTR_YDATA, data + 2049);
        ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "CUDNN_PTR_YDATA", "elements' size");
        SET(CUDNN_PTR_YDATA, data + 2048);
        CALL(cudnnFusedOpsExecute, (h, plan, v));
#undef SET
    }
    CALL(cudnnDestroyFusedOpsConstParamPack, (k));
    CALL(cudnnDestroyFusedOpsVariantParamPack, (v));
    CALL(cudnnDestroyFusedOpsPlan, (plan));
}

/* Gradients through a batch normalisation, dy copied to dz: each result has memory of its own, and dz none of x's. */
static void fork_plan(cudnnHandle_t h, objects *o, char *data)
{
    static const int descs[] = {CUDNN_PARAM_XDESC, CUDNN_PARAM_DYDESC, CUDNN_PARAM_DXDESC, CUDNN_PARAM_DZDESC};
    static const int places[] = {CUDNN_PARAM_XDATA_PLACEHOLDER, CUDNN_PARAM_DYDATA_PLACEHOLDER, CUDNN_PARAM_DXDATA_PLACEHOLDER,
                                 CUDNN_PARAM_DZDATA_PLACEHOLDER, CUDNN_PARAM_BN_SCALE_PLACEHOLDER};
    cudnnFusedOpsConstParamPack_t k;
    cudnnFusedOpsVariantParamPack_t v;
    cudnnFusedOpsPlan_t plan;
    cudnnFusedOpsPointerPlaceHolder_t one = CUDNN_PTR_ELEM_ALIGNED;
    cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;
    double eps = 1e-3;
    size_t size = 0;
    CALL(cudnnCreateFusedOpsConstParamPack, (&k, CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM));
    CALL(cudnnCreateFusedOpsVariantParamPack, (&v, CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM));
    CALL(cudnnCreateFusedOpsPlan, (&plan, CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM));
    set(k, CUDNN_PARAM_BN_MODE, &mode);
    set(k, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, o->chan);
    for (int i = 0; i < 4; i++)
        set(k, descs[i], o->x);
    for (int i = 0; i < 5; i++)
        set(k, places[i], &one);
    CALL(cudnnMakeFusedOpsPlan, (h, plan, k, &size));
    void *ws = api_alloc(size);
#define SET(label, value) CALL(cudnnSetFusedOpsVariantParamPackAttribute, (v, label, value))
    SET(CUDNN_PTR_XDATA, data), SET(CUDNN_PTR_DYDATA, data + 1024), SET(CUDNN_PTR_DXDATA, data + 2048), SET(CUDNN_PTR_BN_SCALE, data + 4032);
    SET(CUDNN_PTR_WORKSPACE, ws), SET(CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &size), SET(CUDNN_SCALAR_DOUBLE_BN_EPSILON, &eps);
    SET(CUDNN_PTR_DZDATA, data + 2048);
    ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "CUDNN_PTR_DXDATA and CUDNN_PTR_DZDATA");
    SET(CUDNN_PTR_DZDATA, data);
    ROW(cudnnFusedOpsExecute, (h, plan, v), BAD, "CUDNN_PTR_XDATA and CUDNN_PTR_DZDATA");
    SET(CUDNN_PTR_DZDATA, data + 1024);
    ROW(cudnnFusedOpsExecute, (h, plan, v), OK, "");
#undef SET
    CALL(cudnnDestroyFusedOpsConstParamPack, (k));
    CALL(cudnnDestroyFusedOpsVariantParamPack, (v));
    CALL(cudnnDestroyFusedOpsPlan, (plan));
}

void misuse_fused_plans(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    cudnnFusedOpsConstParamPack_t k;
    cudnnFusedOpsVariantParamPack_t v, other;
    cudnnFusedOpsPlan_t plan, wrong;
    size_t size;
    char *data = api_alloc(4096);
    objects_make(&o);
    CALL(cudnnCreateFusedOpsConstParamPack, (&k, CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING));
    CALL(cudnnCreateFusedOpsVariantParamPack, (&v, CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING));
    CALL(cudnnCreateFusedOpsVariantParamPack, (&other, CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE));
    CALL(cudnnCreateFusedOpsPlan, (&plan, CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING));
    CALL(cudnnCreateFusedOpsPlan, (&wrong, CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE));
    ROW(cudnnFusedOpsExecute, (h, plan, v), NOINIT, "never made");
    memset(data, 0, 4096);
    final_plan(h, &o, k, plan);
    ROW(cudnnMakeFusedOpsPlan, (h, wrong, k, &size), BAD, "plan", "type 3");
    ROW(cudnnFusedOpsExecute, (h, plan, other), BAD, "varPack for 3");
    final_run(h, plan, v, data);
    conv_plan(h, &o, data);
    if (api_ours)
        fork_plan(h, &o, data);
    CALL(cudnnDestroyFusedOpsConstParamPack, (k));
    CALL(cudnnDestroyFusedOpsVariantParamPack, (v));
    CALL(cudnnDestroyFusedOpsVariantParamPack, (other));
    CALL(cudnnDestroyFusedOpsPlan, (plan));
    CALL(cudnnDestroyFusedOpsPlan, (wrong));
    objects_free(&o);
    api_rows_done();
}
