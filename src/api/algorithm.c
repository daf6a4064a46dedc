/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Algorithm descriptors, performance records, and saved algorithms. As with the vendor's library, a descriptor holds any number, and
 * one that was never set holds 0. What Save writes is a small record of ours: it is no use to another library, and Restore tells. */
#include "algorithm.h"

#include <stdio.h>
#include <string.h>

#if DN_ABI == 8

const dn_algorithm_desc *dn_algorithm_of(const cudnnAlgorithmDescriptor_t desc, const char *name)
{
    return dn_object_of(&dn_algorithm_pool, desc, name);
}

/* --- descriptors --- */

cudnnStatus_t CUDNNWINAPI cudnnCreateAlgorithmDescriptor(cudnnAlgorithmDescriptor_t *algoDesc)
{
    dn_call_begin("cudnnCreateAlgorithmDescriptor");
    return dn_answer(dn_object_create(&dn_algorithm_pool, (void **)algoDesc, "algoDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnSetAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc, cudnnAlgorithm_t algorithm)
{
    dn_call_begin("cudnnSetAlgorithmDescriptor");
    dn_algorithm_desc *d = dn_object_of(&dn_algorithm_pool, algoDesc, "algoDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    d->algorithm = algorithm;
    d->set = 1;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t algoDesc, cudnnAlgorithm_t *algorithm)
{
    dn_call_begin("cudnnGetAlgorithmDescriptor");
    const dn_algorithm_desc *d = dn_algorithm_of(algoDesc, "algoDesc");
    if (!d || dn_want(algorithm, "algorithm"))
        return dn_answer(DN_BAD_PARAM);
    *algorithm = d->algorithm;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnCopyAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t src, cudnnAlgorithmDescriptor_t dest)
{
    dn_call_begin("cudnnCopyAlgorithmDescriptor");
    const dn_algorithm_desc *from = dn_algorithm_of(src, "src");
    dn_algorithm_desc *to = from ? dn_object_of(&dn_algorithm_pool, dest, "dest") : NULL;
    if (!to)
        return dn_answer(DN_BAD_PARAM);
    to->algorithm = from->algorithm;
    to->set = from->set;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc)
{
    dn_call_begin("cudnnDestroyAlgorithmDescriptor");
    return dn_answer(dn_object_destroy(&dn_algorithm_pool, algoDesc, "algoDesc"));
}

/* --- performance records: a record may do without a descriptor, as with the vendor's library --- */

/* The record's own descriptor, NULL where the caller destroyed it: another may lie in its place by now. */
static dn_algorithm_desc *own_of(const dn_algorithm_perf *r)
{
    dn_algorithm_desc *d = (dn_algorithm_desc *)(void *)r->own;
    return dn_pool_live(&dn_algorithm_pool, d) && d->record == r ? d : NULL;
}

static void drop_record(dn_algorithm_perf *r)
{
    if (own_of(r))
        dn_pool_free(&dn_algorithm_pool, r->own);
    dn_pool_free(&dn_algorithm_perf_pool, r);
}

static dn_status make_record(cudnnAlgorithmPerformance_t *out)
{
    void *record = NULL, *own = NULL;
    dn_status st = dn_object_create(&dn_algorithm_perf_pool, &record, "algoPerf");
    if (st == DN_SUCCESS)
        st = dn_object_create(&dn_algorithm_pool, &own, "algoPerf");
    if (st != DN_SUCCESS) {
        if (record)
            dn_pool_free(&dn_algorithm_perf_pool, record);
        return st;
    }
    dn_algorithm_perf *r = record;
    r->own = r->algorithm = own;
    ((dn_algorithm_desc *)own)->record = r;
    *out = record;
    return DN_SUCCESS;
}

/* All or none; no record at all is fine, as with the vendor's library. */
cudnnStatus_t CUDNNWINAPI cudnnCreateAlgorithmPerformance(cudnnAlgorithmPerformance_t *algoPerf, int numberToCreate)
{
    dn_call_begin("cudnnCreateAlgorithmPerformance");
    dn_status st = dn_want(algoPerf, "algoPerf");
    if (st == DN_SUCCESS)
        st = dn_want_range(numberToCreate, 0, INT32_MAX, "numberToCreate", "0 or more");
    int made = 0;
    while (st == DN_SUCCESS && made < numberToCreate) {
        st = make_record(&algoPerf[made]);
        made += st == DN_SUCCESS;
    }
    while (st == DN_ALLOC_FAILED && made > 0)
        drop_record((dn_algorithm_perf *)(void *)algoPerf[--made]);
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnSetAlgorithmPerformance(cudnnAlgorithmPerformance_t algoPerf, cudnnAlgorithmDescriptor_t algoDesc,
                                                       cudnnStatus_t status, float time, size_t memory)
{
    dn_call_begin("cudnnSetAlgorithmPerformance");
    dn_algorithm_perf *r = dn_object_of(&dn_algorithm_perf_pool, algoPerf, "algoPerf");
    if (!r || (algoDesc && !dn_algorithm_of(algoDesc, "algoDesc")))
        return dn_answer(DN_BAD_PARAM);
    r->algorithm = algoDesc;
    r->status = status;
    r->time = time;
    r->memory = memory;
    r->set = 1;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmPerformance(const cudnnAlgorithmPerformance_t algoPerf, cudnnAlgorithmDescriptor_t *algoDesc,
                                                       cudnnStatus_t *status, float *time, size_t *memory)
{
    dn_call_begin("cudnnGetAlgorithmPerformance");
    const dn_algorithm_perf *r = dn_object_of(&dn_algorithm_perf_pool, algoPerf, "algoPerf");
    if (!r || dn_want(algoDesc, "algoDesc") || dn_want(status, "status") || dn_want(time, "time") || dn_want(memory, "memory"))
        return dn_answer(DN_BAD_PARAM);
    *algoDesc = r->algorithm;
    *status = r->status;
    *time = r->time;
    *memory = r->memory;
    return dn_answer(DN_SUCCESS);
}

/* Records that are NULL are passed over; with a dead one among them none is freed. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyAlgorithmPerformance(cudnnAlgorithmPerformance_t *algoPerf, int numberToDestroy)
{
    dn_call_begin("cudnnDestroyAlgorithmPerformance");
    dn_status st = dn_want(algoPerf, "algoPerf");
    if (st == DN_SUCCESS)
        st = dn_want_range(numberToDestroy, 0, INT32_MAX, "numberToDestroy", "0 or more");
    for (int i = 0; st == DN_SUCCESS && i < numberToDestroy; i++) {
        char name[32];
        snprintf(name, sizeof name, "algoPerf[%d]", i);
        if (algoPerf[i] && !dn_object_of(&dn_algorithm_perf_pool, algoPerf[i], name))
            st = DN_BAD_PARAM;
    }
    for (int i = 0; st == DN_SUCCESS && i < numberToDestroy; i++)
        if (algoPerf[i] && dn_pool_live(&dn_algorithm_perf_pool, algoPerf[i]))
            drop_record((dn_algorithm_perf *)(void *)algoPerf[i]);
    return dn_answer(st);
}

dn_status dn_algorithm_perf_fill(cudnnAlgorithmPerformance_t record, const char *name, cudnnAlgorithm_t algorithm, cudnnStatus_t status,
                                 float time, size_t memory)
{
    dn_algorithm_perf *r = dn_object_of(&dn_algorithm_perf_pool, record, name);
    dn_algorithm_desc *d = r ? own_of(r) : NULL;
    if (!d)
        return r ? dn_fail(DN_BAD_PARAM, "the algorithm descriptor of %s was destroyed", name) : DN_BAD_PARAM;
    d->algorithm = algorithm;
    d->set = 1;
    r->algorithm = r->own;
    r->status = status;
    r->time = time;
    r->memory = memory;
    r->set = 1;
    return DN_SUCCESS;
}

/* --- saved algorithms --- */

#define RECORD_MAGIC "anydnnAl"
#define RECORD_VERSION 1

typedef struct saved_algorithm {
    char magic[8];
    uint32_t version, size;
    cudnnAlgorithm_t algorithm;
    uint32_t check;  /* of the bytes before it: FNV-1a */
} saved_algorithm;

static uint32_t check_of(const saved_algorithm *s)
{
    const unsigned char *b = (const unsigned char *)s;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < offsetof(saved_algorithm, check); i++)
        h = (h ^ b[i]) * 16777619u;
    return h;
}

cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmSpaceSize(cudnnHandle_t handle, cudnnAlgorithmDescriptor_t algoDesc,
                                                     size_t *algoSpaceSizeInBytes)
{
    dn_call_begin("cudnnGetAlgorithmSpaceSize");
    if (!dn_handle_of(handle) || !dn_algorithm_of(algoDesc, "algoDesc") || dn_want(algoSpaceSizeInBytes, "algoSpaceSizeInBytes"))
        return dn_answer(DN_BAD_PARAM);
    *algoSpaceSizeInBytes = sizeof(saved_algorithm);
    return dn_answer(DN_SUCCESS);
}

static dn_status check_space(const void *space, size_t size)
{
    dn_status st = dn_want(space, "algoSpace");
    return st != DN_SUCCESS || size >= sizeof(saved_algorithm) ? st
        : dn_fail(DN_BAD_PARAM, "algoSpaceSizeInBytes is %zu; it must be %zu or more", size, sizeof(saved_algorithm));
}

cudnnStatus_t CUDNNWINAPI cudnnSaveAlgorithm(cudnnHandle_t handle, cudnnAlgorithmDescriptor_t algoDesc, void *algoSpace,
                                             size_t algoSpaceSizeInBytes)
{
    dn_call_begin("cudnnSaveAlgorithm");
    const dn_algorithm_desc *d = dn_handle_of(handle) ? dn_algorithm_of(algoDesc, "algoDesc") : NULL;
    if (!d || check_space(algoSpace, algoSpaceSizeInBytes))
        return dn_answer(DN_BAD_PARAM);
    saved_algorithm s = { .version = RECORD_VERSION, .size = sizeof s, .algorithm = d->algorithm };
    memcpy(s.magic, RECORD_MAGIC, sizeof s.magic);
    s.check = check_of(&s);
    memcpy(algoSpace, &s, sizeof s);
    return dn_answer(DN_SUCCESS);
}

static dn_status check_record(const saved_algorithm *s)
{
    if (memcmp(s->magic, RECORD_MAGIC, sizeof s->magic) != 0)
        return dn_fail(DN_BAD_PARAM, "algoSpace does not hold what cudnnSaveAlgorithm of anydnn writes");
    if (s->version != RECORD_VERSION || s->size != sizeof *s)
        return dn_fail(DN_BAD_PARAM, "algoSpace holds a record of version %u and %u bytes; this library reads version %d of %zu bytes",
                       s->version, s->size, RECORD_VERSION, sizeof *s);
    if (s->check != check_of(s))
        return dn_fail(DN_BAD_PARAM, "algoSpace holds a damaged record: its check sum is wrong");
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnRestoreAlgorithm(cudnnHandle_t handle, void *algoSpace, size_t algoSpaceSizeInBytes,
                                                cudnnAlgorithmDescriptor_t algoDesc)
{
    dn_call_begin("cudnnRestoreAlgorithm");
    dn_algorithm_desc *d = dn_handle_of(handle) ? dn_object_of(&dn_algorithm_pool, algoDesc, "algoDesc") : NULL;
    if (!d || check_space(algoSpace, algoSpaceSizeInBytes))
        return dn_answer(DN_BAD_PARAM);
    saved_algorithm s;
    memcpy(&s, algoSpace, sizeof s);
    dn_status st = check_record(&s);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    d->algorithm = s.algorithm;
    d->set = 1;
    return dn_answer(DN_SUCCESS);
}
#endif
