/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* A user's program, as small as it gets: built against an installed copy in every way that users do. */
#include <cudnn.h>

#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                  \
    do {                                                                   \
        if (!(condition)) {                                                \
            fprintf(stderr, "use_cudnn: not true: %s\n", #condition);      \
            return 1;                                                      \
        }                                                                  \
    } while (0)

int main(void)
{
    cudnnHandle_t handle = NULL;
    cudnnTensorDescriptor_t tensor = NULL;
    cudnnDataType_t type;
    int n, c, h, w, ns, cs, hs, ws;

    EXPECT(cudnnGetVersion() == CUDNN_VERSION);
    EXPECT(strcmp(cudnnGetErrorString(CUDNN_STATUS_SUCCESS), "CUDNN_STATUS_SUCCESS") == 0);
    EXPECT(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnCreateTensorDescriptor(&tensor) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 3, 4, 5) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnGetTensor4dDescriptor(tensor, &type, &n, &c, &h, &w, &ns, &cs, &hs, &ws) == CUDNN_STATUS_SUCCESS);
    EXPECT(type == CUDNN_DATA_FLOAT && n == 2 && c == 3 && h == 4 && w == 5 && ns == 60 && cs == 20 && hs == 5 && ws == 1);
    EXPECT(cudnnDestroyTensorDescriptor(tensor) == CUDNN_STATUS_SUCCESS);
    EXPECT(cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS);
    printf("cuDNN %d.%d.%d\n", CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL);
    return 0;
}
