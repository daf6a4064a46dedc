/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the kernel of im2col is given; shared by host and kernel. */
#ifndef DN_CUDA_IM2COL_IM2COL_H
#define DN_CUDA_IM2COL_IM2COL_H

#include "cuda/view.h"

enum { DN_IM2COL_SPATIAL = 6 };

/* y[(c, r...)][(n, o...)], packed: dims of x, of the filter (r) and of the output (o), strides of x in elements. */
typedef struct dn_im2col_naive {
    dn_elements x, y;
    long long rows, cols;
    long long batch_stride, chan_stride;
    long long in[DN_IM2COL_SPATIAL], window[DN_IM2COL_SPATIAL], out[DN_IM2COL_SPATIAL], x_stride[DN_IM2COL_SPATIAL];
    int pad[DN_IM2COL_SPATIAL], stride[DN_IM2COL_SPATIAL], dilation[DN_IM2COL_SPATIAL];
    int spatial, turned;   /* turned: a convolution, tap r stands for filter element window - 1 - r */
} dn_im2col_naive;

#endif
