/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Parameter packs and plans of fused operations: life and attributes. As in the vendor's 9.19 a label that a type does not have is refused,
 * NULL takes a label back to what it was at first, descriptors are copied whether they were set or not, and values of placeholders and
 * modes are looked at when a plan is made. Unlike there what was set can be read back for every type. */
#include "fused.h"

#include <string.h>

dn_pool dn_fused_const_pool = DN_POOL("fused operations constant pack", 0x43465344, dn_fused_const);
dn_pool dn_fused_variant_pool = DN_POOL("fused operations variant pack", 0x56465344, dn_fused_variant);
dn_pool dn_fused_plan_pool = DN_POOL("fused operations plan", 0x50465344, dn_fused_plan);

/* Bits of cudnnFusedOps_t. */
enum {
    CONV_STATS = 1 << CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS, WGRAD = 1 << CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD,
    TRAIN = 1 << CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING, INFER = 1 << CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE,
    CONV_ADD = 1 << CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION, BITMASK = 1 << CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK,
    DBN = 1 << CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM,
    FINAL = TRAIN | INFER, WITH_CONV = CONV_STATS | WGRAD | CONV_ADD, WITH_ADD = CONV_ADD | BITMASK,
    WITH_X = WITH_CONV | BITMASK | DBN, WITH_EQ = ~DBN & 0x7f, WITH_Y = CONV_STATS | WITH_ADD
};

#define DESC(label, what, set) [CUDNN_PARAM_##label] = { "CUDNN_PARAM_" #label, DN_LABEL_##what, set, -1 }
#define PLACE(label, set) [CUDNN_PARAM_##label##_PLACEHOLDER] = { "CUDNN_PARAM_" #label "_PLACEHOLDER", DN_LABEL_PLACE, set, CUDNN_PTR_##label }
#define PLACE_AS(label, ptr, set) [CUDNN_PARAM_##label##_PLACEHOLDER] = { "CUDNN_PARAM_" #label "_PLACEHOLDER", DN_LABEL_PLACE, set, ptr }

/* Which types have which labels: as the vendor's 9.19 takes them. */
const dn_fused_label dn_fused_labels[DN_FUSED_LABELS] = {
    DESC(XDESC, TENSOR, WITH_X), PLACE(XDATA, WITH_X),
    DESC(BN_MODE, MODE, 0x7f & ~CONV_ADD),
    DESC(BN_EQSCALEBIAS_DESC, TENSOR, WITH_EQ), PLACE(BN_EQSCALE, WITH_EQ), PLACE(BN_EQBIAS, WITH_EQ & ~CONV_ADD),
    DESC(ACTIVATION_DESC, ACT, WITH_X), DESC(CONV_DESC, CONV, WITH_CONV),
    DESC(WDESC, FILTER, CONV_STATS | CONV_ADD), PLACE(WDATA, CONV_STATS | CONV_ADD),
    DESC(DWDESC, FILTER, WGRAD), PLACE(DWDATA, WGRAD),
    DESC(YDESC, TENSOR, WITH_Y), PLACE(YDATA, WITH_Y),
    DESC(DYDESC, TENSOR, WGRAD | DBN), PLACE(DYDATA, WGRAD | DBN),
    DESC(YSTATS_DESC, TENSOR, CONV_STATS | TRAIN), PLACE(YSUM, CONV_STATS | TRAIN), PLACE(YSQSUM, CONV_STATS | TRAIN),
    DESC(BN_SCALEBIAS_MEANVAR_DESC, TENSOR, FINAL | DBN), PLACE(BN_SCALE, FINAL | DBN), PLACE(BN_BIAS, FINAL | DBN),
    PLACE(BN_SAVED_MEAN, TRAIN | DBN), PLACE(BN_SAVED_INVSTD, TRAIN | DBN),
    PLACE(BN_RUNNING_MEAN, FINAL), PLACE(BN_RUNNING_VAR, FINAL),
    DESC(ZDESC, TENSOR, WITH_ADD), PLACE(ZDATA, WITH_ADD),
    DESC(BN_Z_EQSCALEBIAS_DESC, TENSOR, WITH_ADD), PLACE(BN_Z_EQSCALE, WITH_ADD), PLACE(BN_Z_EQBIAS, WITH_ADD),
    DESC(ACTIVATION_BITMASK_DESC, TENSOR, BITMASK | DBN), PLACE(ACTIVATION_BITMASK, BITMASK | DBN),
    DESC(DXDESC, TENSOR, DBN), PLACE(DXDATA, DBN), DESC(DZDESC, TENSOR, DBN), PLACE(DZDATA, DBN),
    PLACE(BN_DSCALE, DBN), PLACE(BN_DBIAS, DBN),
};

static const dn_fused_label *label_of(int label, int ops)
{
    const char *rule = "the label of an attribute";
    if (dn_want_range(label, 0, DN_FUSED_LABELS - 1, "paramLabel", rule))
        return NULL;
    const dn_fused_label *l = &dn_fused_labels[label];
    if (l->types >> ops & 1)
        return l;
    dn_fail(DN_BAD_PARAM, "paramLabel is %s, which operations of type %d do not have", l->name, ops);
    return NULL;
}

/* The placeholder that goes with a pointer. */
static const dn_fused_label *pointer_label(int pointer)
{
    for (int i = 0; i < DN_FUSED_LABELS; i++)
        if (dn_fused_labels[i].kind == DN_LABEL_PLACE && dn_fused_labels[i].pointer == pointer)
            return &dn_fused_labels[i];
    return NULL;
}

const char *dn_fused_pointer_name(int pointer)
{
    static const char *const names[DN_FUSED_POINTERS] = {
        "CUDNN_PTR_XDATA", "CUDNN_PTR_BN_EQSCALE", "CUDNN_PTR_BN_EQBIAS", "CUDNN_PTR_WDATA", "CUDNN_PTR_DWDATA", "CUDNN_PTR_YDATA",
        "CUDNN_PTR_DYDATA", "CUDNN_PTR_YSUM", "CUDNN_PTR_YSQSUM", "CUDNN_PTR_WORKSPACE", "CUDNN_PTR_BN_SCALE", "CUDNN_PTR_BN_BIAS",
        "CUDNN_PTR_BN_SAVED_MEAN", "CUDNN_PTR_BN_SAVED_INVSTD", "CUDNN_PTR_BN_RUNNING_MEAN", "CUDNN_PTR_BN_RUNNING_VAR",
        "CUDNN_PTR_ZDATA", "CUDNN_PTR_BN_Z_EQSCALE", "CUDNN_PTR_BN_Z_EQBIAS", "CUDNN_PTR_ACTIVATION_BITMASK", "CUDNN_PTR_DXDATA",
        "CUDNN_PTR_DZDATA", "CUDNN_PTR_BN_DSCALE", "CUDNN_PTR_BN_DBIAS",
    };
    return pointer >= 0 && pointer < DN_FUSED_POINTERS ? names[pointer] : "?";
}

/* --- life --- */

static dn_status want_ops(int ops)
{
    return dn_want_range(ops, 0, DN_FUSED_TYPES - 1, "ops", "a cudnnFusedOps_t, 0 to 6");
}

/* All three kinds begin with cookie and ops. */
typedef struct head {
    uint32_t cookie;
    int32_t ops;
} head;

static cudnnStatus_t create(dn_pool *pool, void **out, const char *name, int ops)
{
    dn_status st = dn_want(out, name);
    if (st == DN_SUCCESS)
        st = want_ops(ops);
    if (st == DN_SUCCESS)
        st = dn_object_create(pool, out, name);
    if (st == DN_SUCCESS)
        ((head *)*out)->ops = ops;
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsConstParamPack(cudnnFusedOpsConstParamPack_t *constPack, cudnnFusedOps_t ops)
{
    dn_call_begin("cudnnCreateFusedOpsConstParamPack");
    return create(&dn_fused_const_pool, (void **)constPack, "constPack", (int)ops);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsConstParamPack(cudnnFusedOpsConstParamPack_t constPack)
{
    dn_call_begin("cudnnDestroyFusedOpsConstParamPack");
    return dn_answer(dn_object_destroy(&dn_fused_const_pool, constPack, "constPack"));
}

cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsVariantParamPack(cudnnFusedOpsVariantParamPack_t *varPack, cudnnFusedOps_t ops)
{
    dn_call_begin("cudnnCreateFusedOpsVariantParamPack");
    return create(&dn_fused_variant_pool, (void **)varPack, "varPack", (int)ops);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsVariantParamPack(cudnnFusedOpsVariantParamPack_t varPack)
{
    dn_call_begin("cudnnDestroyFusedOpsVariantParamPack");
    return dn_answer(dn_object_destroy(&dn_fused_variant_pool, varPack, "varPack"));
}

cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsPlan(cudnnFusedOpsPlan_t *plan, cudnnFusedOps_t ops)
{
    dn_call_begin("cudnnCreateFusedOpsPlan");
    return create(&dn_fused_plan_pool, (void **)plan, "plan", (int)ops);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsPlan(cudnnFusedOpsPlan_t plan)
{
    dn_call_begin("cudnnDestroyFusedOpsPlan");
    return dn_answer(dn_object_destroy(&dn_fused_plan_pool, plan, "plan"));
}

/* --- attributes of the constant pack --- */

typedef struct shape {
    dn_pool *pool;
    size_t size;
} shape;

static shape shape_of(int kind)
{
    switch (kind) {
    case DN_LABEL_TENSOR: return (shape){ &dn_tensor_pool, sizeof(dn_tensor_desc) };
    case DN_LABEL_FILTER: return (shape){ &dn_filter_pool, sizeof(dn_filter_desc) };
    case DN_LABEL_CONV: return (shape){ &dn_conv_pool, sizeof(dn_conv_desc) };
    case DN_LABEL_ACT: return (shape){ &dn_act_pool, sizeof(dn_act_desc) };
    default: return (shape){ NULL, sizeof(int32_t) };
    }
}

cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsConstParamPackAttribute(cudnnFusedOpsConstParamPack_t constPack,
                                                                  cudnnFusedOpsConstParamLabel_t paramLabel, const void *param)
{
    dn_call_begin("cudnnSetFusedOpsConstParamPackAttribute");
    dn_fused_const *k = dn_object_of(&dn_fused_const_pool, constPack, "constPack");
    const dn_fused_label *l = k ? label_of((int)paramLabel, k->ops) : NULL;
    if (!l)
        return dn_answer(DN_BAD_PARAM);
    dn_fused_item *item = &k->item[paramLabel];
    shape s = shape_of(l->kind);
    if (s.pool && param && !dn_object_of(s.pool, param, "param"))
        return dn_answer(DN_BAD_PARAM);
    memset(item, 0, sizeof *item);
    if (param && s.pool)
        memcpy(&item->u, param, s.size);
    else if (param)
        memcpy(&item->value, param, s.size);
    item->set = param != NULL;
    return dn_answer(DN_SUCCESS);
}

/* A descriptor's cookie stays its own. */
static void give_back(const dn_fused_item *item, shape s, void *param)
{
    const size_t skip = sizeof(uint32_t);
    if (s.pool)
        memcpy((char *)param + skip, (const char *)&item->u + skip, s.size - skip);
    else
        memcpy(param, &item->value, s.size);
}

cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsConstParamPackAttribute(const cudnnFusedOpsConstParamPack_t constPack,
                                                                  cudnnFusedOpsConstParamLabel_t paramLabel, void *param, int *isNULL)
{
    dn_call_begin("cudnnGetFusedOpsConstParamPackAttribute");
    const dn_fused_const *k = dn_object_of(&dn_fused_const_pool, constPack, "constPack");
    if (!k || dn_want(param, "param") || dn_want(isNULL, "isNULL"))
        return dn_answer(DN_BAD_PARAM);
    *isNULL = 0;
    const dn_fused_label *l = label_of((int)paramLabel, k->ops);
    if (!l)
        return dn_answer(DN_BAD_PARAM);
    const dn_fused_item *item = &k->item[paramLabel];
    shape s = shape_of(l->kind);
    if (s.pool && !dn_object_of(s.pool, param, "param"))
        return dn_answer(DN_BAD_PARAM);
    *isNULL = s.pool && !item->set;
    if (!*isNULL)
        give_back(item, s, param);
    return dn_answer(DN_SUCCESS);
}

/* --- attributes of the variant pack --- */

static bool has_pointer(int label, int ops)
{
    const dn_fused_label *l = pointer_label(label);
    return label == CUDNN_PTR_WORKSPACE || (l && l->types >> ops & 1);
}

/* Where a label's value lies and how large it is; NULL where the type does not have it. */
static void *slot_of(dn_fused_variant *v, int label, size_t *size)
{
    bool has = label >= 0 && label < DN_FUSED_POINTERS && has_pointer(label, v->ops);
    *size = has ? sizeof(void *) : 8;
    if (has)
        return &v->ptr[label];
    switch (label) {
    case CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES:
        *size = sizeof v->workspace_size;
        return &v->workspace_size;
    case CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT:
        if (TRAIN >> v->ops & 1)
            return &v->count;
        break;
    case CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR:
        if (TRAIN >> v->ops & 1)
            return &v->factor;
        break;
    case CUDNN_SCALAR_DOUBLE_BN_EPSILON:
        if ((FINAL | DBN) >> v->ops & 1)
            return &v->eps;
        break;
    default:
        break;
    }
    dn_fail(DN_BAD_PARAM, "paramLabel is %d; operations of type %d have no such attribute", label, v->ops);
    return NULL;
}

cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsVariantParamPackAttribute(cudnnFusedOpsVariantParamPack_t varPack,
                                                                    cudnnFusedOpsVariantParamLabel_t paramLabel, void *ptr)
{
    size_t size;
    dn_call_begin("cudnnSetFusedOpsVariantParamPackAttribute");
    dn_fused_variant *v = dn_object_of(&dn_fused_variant_pool, varPack, "varPack");
    void *slot = v ? slot_of(v, (int)paramLabel, &size) : NULL;
    if (!slot)
        return dn_answer(DN_BAD_PARAM);
    if ((int)paramLabel < DN_FUSED_POINTERS)
        v->ptr[paramLabel] = ptr;
    else if (ptr)
        memcpy(slot, ptr, size);
    else
        memset(slot, 0, size);
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsVariantParamPackAttribute(const cudnnFusedOpsVariantParamPack_t varPack,
                                                                    cudnnFusedOpsVariantParamLabel_t paramLabel, void *ptr)
{
    size_t size;
    dn_call_begin("cudnnGetFusedOpsVariantParamPackAttribute");
    dn_fused_variant *v = dn_object_of(&dn_fused_variant_pool, varPack, "varPack");
    const void *slot = v ? slot_of(v, (int)paramLabel, &size) : NULL;
    if (!slot || dn_want(ptr, "ptr"))
        return dn_answer(DN_BAD_PARAM);
    memcpy(ptr, slot, size);
    return dn_answer(DN_SUCCESS);
}

/* --- plans --- */

cudnnStatus_t CUDNNWINAPI cudnnMakeFusedOpsPlan(cudnnHandle_t handle, cudnnFusedOpsPlan_t plan,
                                                const cudnnFusedOpsConstParamPack_t constPack, size_t *workspaceSizeInBytes)
{
    dn_call_begin("cudnnMakeFusedOpsPlan");
    dn_handle *h = dn_handle_of(handle);
    dn_fused_plan *p = h ? dn_object_of(&dn_fused_plan_pool, plan, "plan") : NULL;
    const dn_fused_const *k = p ? dn_object_of(&dn_fused_const_pool, constPack, "constPack") : NULL;
    if (!k || dn_want(workspaceSizeInBytes, "workspaceSizeInBytes"))
        return dn_answer(DN_BAD_PARAM);
    if (p->ops != k->ops)
        return dn_answer(dn_fail(DN_BAD_PARAM, "plan is for operations of type %d, constPack for %d; they must be equal", p->ops, k->ops));
    dn_status st = dn_fused_make(h, p, k);
    if (st == DN_SUCCESS)
        *workspaceSizeInBytes = p->workspace;
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnFusedOpsExecute(cudnnHandle_t handle, const cudnnFusedOpsPlan_t plan,
                                               cudnnFusedOpsVariantParamPack_t varPack)
{
    dn_call_begin("cudnnFusedOpsExecute");
    dn_handle *h = dn_handle_of(handle);
    const dn_fused_plan *p = h ? dn_object_of(&dn_fused_plan_pool, plan, "plan") : NULL;
    const dn_fused_variant *v = p ? dn_object_of(&dn_fused_variant_pool, varPack, "varPack") : NULL;
    if (!v)
        return dn_answer(DN_BAD_PARAM);
    if (p->ops != v->ops)
        return dn_answer(dn_fail(DN_BAD_PARAM, "plan is for operations of type %d, varPack for %d; they must be equal", p->ops, v->ops));
    if (!p->made)
        return dn_answer(dn_fail(DN_NOT_INITIALIZED, "plan was created but never made; cudnnMakeFusedOpsPlan makes it"));
    return dn_answer(dn_fused_execute(h, p, v));
}
