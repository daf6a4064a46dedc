/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* The half of use_both.c that is linked with sub-libraries only. */
#include <cudnn.h>

#include "via_sub.h"

int sub_create(cudnnHandle_t *handle) { return (int)cudnnCreate(handle); }

int sub_destroy(cudnnHandle_t handle) { return (int)cudnnDestroy(handle); }

int sub_fail(cudnnTensorDescriptor_t tensor)
{
    return (int)cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -7, 1, 1);
}

int sub_set_callback(unsigned mask, void *data, cudnnCallback_t callback)
{
    return (int)cudnnSetCallback(mask, data, callback);
}

void *sub_create_address(void)
{
    union { cudnnStatus_t(CUDNNWINAPI *f)(cudnnHandle_t *); void *p; } u;

    u.f = cudnnCreate;
    return u.p;
}
