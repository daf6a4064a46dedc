/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * A program linked with libcudnn, with a part (via_sub.c) linked only with sub-libraries: handles,
 * descriptors, the last error and the callback are the same on both sides.
 */
#include <cudnn.h>
#include <anydnn.h>

#include <stdio.h>
#include <string.h>

#include "via_sub.h"

#define EXPECT(condition)                                                  \
    do {                                                                   \
        if (!(condition)) {                                                \
            fprintf(stderr, "use_both: not true: %s\n", #condition);       \
            return 1;                                                      \
        }                                                                  \
    } while (0)

static int calls;

static void CUDNNWINAPI count(cudnnSeverity_t severity, void *data, const cudnnDebug_t *debug, const char *text)
{
    (void)severity;
    (void)debug;
    if (data == &calls && text)
        calls++;
}

static int check_handles(void)
{
    cudnnHandle_t ours = NULL, theirs = NULL;
    cudnnStatus_t(CUDNNWINAPI * create)(cudnnHandle_t *) = cudnnCreate;
    void *here;

    memcpy(&here, &create, sizeof here);
    EXPECT(here != sub_create_address());
    EXPECT(cudnnCreate(&ours) == CUDNN_STATUS_SUCCESS);
    EXPECT(sub_create(&theirs) == CUDNN_STATUS_SUCCESS);
    EXPECT(ours != theirs);
    EXPECT(anydnnGetEngineName(theirs) != NULL);
    EXPECT(strcmp(anydnnGetEngineName(theirs), anydnnGetEngineName(ours)) == 0);
    EXPECT(sub_destroy(ours) == CUDNN_STATUS_SUCCESS);
    EXPECT(anydnnGetEngineName(ours) == NULL);
    EXPECT(cudnnDestroy(theirs) == CUDNN_STATUS_SUCCESS);
    EXPECT(sub_destroy(theirs) == CUDNN_STATUS_BAD_PARAM);
    return 0;
}

static int check_last_error(void)
{
    cudnnTensorDescriptor_t tensor = NULL;

    EXPECT(cudnnCreateTensorDescriptor(&tensor) == CUDNN_STATUS_SUCCESS);
    EXPECT(sub_fail(tensor) == CUDNN_STATUS_BAD_PARAM);
    EXPECT(strstr(anydnnGetLastErrorString(), "cudnnSetTensor4dDescriptor") != NULL);
    EXPECT(strstr(anydnnGetLastErrorString(), "-7") != NULL);
    EXPECT(cudnnDestroyTensorDescriptor(tensor) == CUDNN_STATUS_SUCCESS);
    return 0;
}

static int check_callback(void)
{
    unsigned mask = 0;
    void *data = NULL;
    cudnnCallback_t callback = NULL;
    cudnnTensorDescriptor_t tensor = NULL;

    EXPECT(sub_set_callback(CUDNN_SEV_ERROR_EN, &calls, count) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnGetCallback(&mask, &data, &callback) == CUDNN_STATUS_SUCCESS);
    EXPECT(mask == CUDNN_SEV_ERROR_EN && data == &calls && callback == count);
    EXPECT(cudnnCreateTensorDescriptor(&tensor) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 1, 1, 1) == CUDNN_STATUS_BAD_PARAM);
    EXPECT(calls > 0);
    EXPECT(cudnnDestroyTensorDescriptor(tensor) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnSetCallback(0, NULL, NULL) == CUDNN_STATUS_SUCCESS);
    return 0;
}

int main(void)
{
    return check_handles() || check_last_error() || check_callback();
}
