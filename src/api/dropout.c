/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Dropout. The random numbers are a function of the seed, the number of forward calls since it was set, and the element
 * (core/philox.h); seed and number lie in the caller's states buffer (ops/dropout.h). */
#include "ops/dropout.h"

#include "api.h"

cudnnStatus_t CUDNNWINAPI cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t *dropoutDesc)
{
    dn_call_begin("cudnnCreateDropoutDescriptor");
    return dn_answer(dn_object_create(&dn_dropout_pool, (void **)dropoutDesc, "dropoutDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc)
{
    dn_call_begin("cudnnDestroyDropoutDescriptor");
    return dn_answer(dn_object_destroy(&dn_dropout_pool, dropoutDesc, "dropoutDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *sizeInBytes)
{
    dn_call_begin("cudnnDropoutGetStatesSize");
    if (!dn_handle_of(handle) || dn_want(sizeInBytes, "sizeInBytes"))
        return dn_answer(DN_BAD_PARAM);
    *sizeInBytes = sizeof(dn_dropout_state);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t xdesc, size_t *sizeInBytes)
{
    dn_call_begin("cudnnDropoutGetReserveSpaceSize");
    const dn_tensor *x = dn_tensor_of(xdesc, "xdesc");
    if (!x || dn_want(sizeInBytes, "sizeInBytes"))
        return dn_answer(DN_BAD_PARAM);
    if (!dn_dropout_reserve_size(x, sizeInBytes))
        return dn_answer(dn_fail(DN_BAD_PARAM, "xdesc has more elements than a 64-bit number counts"));
    return CUDNN_STATUS_SUCCESS;
}

/* The vendor's library takes any probability, NaN included; one outside 0 to 1 can only be a mistake, so it is named here. */
static dn_status check_settings(float dropout, const void *states, size_t size)
{
    if (!(dropout >= 0 && dropout <= 1))
        return dn_fail(DN_BAD_PARAM, "dropout is %g; it must be 0 to 1", (double)dropout);
    if (states && size < sizeof(dn_dropout_state))
        return dn_fail(DN_INVALID_VALUE, "stateSizeInBytes is %zu; it must be %zu or more", size, sizeof(dn_dropout_state));
    return DN_SUCCESS;
}

static void set_descriptor(dn_dropout_desc *d, float dropout, void *states, size_t size, unsigned long long seed)
{
    d->dropout = dropout;
    d->states = states;
    d->states_size = size;
    d->seed = seed;
    d->set = 1;
}

/* NULL states change the probability alone. */
cudnnStatus_t CUDNNWINAPI cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle, float dropout,
                                                    void *states, size_t stateSizeInBytes, unsigned long long seed)
{
    dn_call_begin("cudnnSetDropoutDescriptor");
    dn_dropout_desc *d = dn_object_of(&dn_dropout_pool, dropoutDesc, "dropoutDesc");
    dn_handle *h = d ? dn_handle_of(handle) : NULL;
    if (!h)
        return dn_answer(DN_BAD_PARAM);
    dn_status st = check_settings(dropout, states, stateSizeInBytes);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    if (!states) {
        set_descriptor(d, dropout, d->states, d->states_size, d->seed);
        return CUDNN_STATUS_SUCCESS;
    }
    dn_dropout_state state = { .seed = seed };
    st = dn_mem_copy_in(h, states, &state, sizeof state);
    if (st == DN_SUCCESS)
        set_descriptor(d, dropout, states, stateSizeInBytes, seed);
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle, float dropout,
                                                        void *states, size_t stateSizeInBytes, unsigned long long seed)
{
    dn_call_begin("cudnnRestoreDropoutDescriptor");
    dn_dropout_desc *d = dn_object_of(&dn_dropout_pool, dropoutDesc, "dropoutDesc");
    if (!d || !dn_handle_of(handle) || dn_want(states, "states"))
        return dn_answer(DN_BAD_PARAM);
    dn_status st = check_settings(dropout, states, stateSizeInBytes);
    if (st == DN_SUCCESS)
        set_descriptor(d, dropout, states, stateSizeInBytes, seed);
    return dn_answer(st);
}

/* One never set reads as zeros, as the vendor's does. */
cudnnStatus_t CUDNNWINAPI cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle, float *dropout,
                                                    void **states, unsigned long long *seed)
{
    dn_call_begin("cudnnGetDropoutDescriptor");
    const dn_dropout_desc *d = dn_object_of(&dn_dropout_pool, dropoutDesc, "dropoutDesc");
    if (!d || !dn_handle_of(handle) || dn_want(dropout, "dropout") || dn_want(states, "states") || dn_want(seed, "seed"))
        return dn_answer(DN_BAD_PARAM);
    *dropout = d->dropout;
    *states = d->states;
    *seed = d->seed;
    return CUDNN_STATUS_SUCCESS;
}

/* Both directions: in and out are x and y, or dy and dx. */
typedef struct dropout_call {
    dn_dir dir;
    dn_role in, out;
    cudnnTensorDescriptor_t in_desc, out_desc;
    const void *in_ptr;
    void *out_ptr;
    const char *in_desc_name, *out_desc_name, *in_name, *out_name;
    void *reserve;
    size_t reserve_size;
} dropout_call;

static dn_status run_dropout(cudnnHandle_t handle, cudnnDropoutDescriptor_t desc, const dropout_call *c)
{
    dn_problem p;
    dn_args a = { 0 };
    dn_handle *h = dn_handle_of(handle);
    const dn_dropout_desc *d = h ? dn_dropout_of(desc, "dropoutDesc") : NULL;
    const dn_tensor *in = d ? dn_tensor_of(c->in_desc, c->in_desc_name) : NULL;
    if (!in || dn_want(c->in_ptr, c->in_name))
        return DN_BAD_PARAM;
    const dn_tensor *out = dn_tensor_of(c->out_desc, c->out_desc_name);
    if (!out || dn_want(c->out_ptr, c->out_name) || dn_want(c->reserve, "reserveSpace"))
        return DN_BAD_PARAM;
    if (!d->states && c->dir == DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "dropoutDesc has no states; cudnnSetDropoutDescriptor was called with NULL for them");
    dn_problem_init(&p, DN_OP_DROPOUT, c->dir);
    dn_bind(&p, &a, c->in, in, c->in_ptr);
    dn_bind(&p, &a, c->out, out, c->out_ptr);
    p.flags = (uint16_t)(DN_F_BETA_ZERO | (c->in_ptr == c->out_ptr ? DN_F_IN_PLACE : 0));
    dn_status st = dn_dropout_check(&p);
    if (st != DN_SUCCESS)
        return st;
    size_t need = 0;
    dn_dropout_reserve_size(in, &need);  /* the count fits: the check saw it */
    if (c->reserve_size < need)
        return dn_fail(DN_BAD_PARAM, "reserveSpaceSizeInBytes is %zu; it must be %zu or more", c->reserve_size, need);
    a.alpha = 1;
    a.dropout = d->dropout;
    a.aux[DN_AUX_STATES] = d->states;
    a.reserve = c->reserve;
    a.reserve_size = c->reserve_size;
    return dn_run(h, &p, &a);
}

cudnnStatus_t CUDNNWINAPI cudnnDropoutForward(cudnnHandle_t handle, const cudnnDropoutDescriptor_t dropoutDesc,
                                              const cudnnTensorDescriptor_t xdesc, const void *x,
                                              const cudnnTensorDescriptor_t ydesc, void *y, void *reserveSpace,
                                              size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnDropoutForward");
    dropout_call c = { DN_DIR_FWD, DN_X, DN_Y, xdesc, ydesc, x, y, "xdesc", "ydesc", "x", "y", reserveSpace, reserveSpaceSizeInBytes };
    return dn_answer(run_dropout(handle, dropoutDesc, &c));
}

cudnnStatus_t CUDNNWINAPI cudnnDropoutBackward(cudnnHandle_t handle, const cudnnDropoutDescriptor_t dropoutDesc,
                                               const cudnnTensorDescriptor_t dydesc, const void *dy,
                                               const cudnnTensorDescriptor_t dxdesc, void *dx, void *reserveSpace,
                                               size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnDropoutBackward");
    dropout_call c = { DN_DIR_BWD_DATA, DN_DY, DN_DX, dydesc, dxdesc, dy, dx, "dydesc", "dxdesc", "dy", "dx", reserveSpace,
                       reserveSpaceSizeInBytes };
    return dn_answer(run_dropout(handle, dropoutDesc, &c));
}
