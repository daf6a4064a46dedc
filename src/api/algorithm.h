/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Algorithm descriptors and performance records of cuDNN 8; 9 has neither. */
#ifndef DN_API_ALGORITHM_H
#define DN_API_ALGORITHM_H

#include "api.h"

#if DN_ABI == 8
typedef struct dn_algorithm_desc {
    uint32_t cookie;
    uint32_t set;
    cudnnAlgorithm_t algorithm;
    const void *record;  /* that it belongs to, NULL where a caller created it */
} dn_algorithm_desc;

/* A record begins with a descriptor of its own, which lives as long as it does unless the caller destroys it; Set puts the caller's in its
 * place. */
typedef struct dn_algorithm_perf {
    uint32_t cookie;
    uint32_t set;
    cudnnAlgorithmDescriptor_t own, algorithm;
    cudnnStatus_t status;
    float time;
    size_t memory;
} dn_algorithm_perf;

extern dn_pool dn_algorithm_pool, dn_algorithm_perf_pool;

const dn_algorithm_desc *dn_algorithm_of(const cudnnAlgorithmDescriptor_t desc, const char *name);
/* For what a Find call measured: the record's own descriptor gets the number. record is an element of the caller's array. */
dn_status dn_algorithm_perf_fill(cudnnAlgorithmPerformance_t record, const char *name, cudnnAlgorithm_t algorithm, cudnnStatus_t status,
                                 float time, size_t memory);
#endif

#endif
