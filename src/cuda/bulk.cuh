/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What capability 9.0 has for moving memory in bulk: copies into shared memory that tell a barrier how many bytes came, and clusters of
 * blocks that read each other's shared memory. Addresses of shared memory are 32-bit here. */
#ifndef DN_CUDA_BULK_CUH
#define DN_CUDA_BULK_CUH

#include "cuda/common.cuh"

DN_FN dn_u32 dn_shared_at(const void *p)
{
    return (dn_u32)__cvta_generic_to_shared(p);
}

/* --- barriers: 8 bytes of shared memory each --- */
/* A phase ends after `arrivals` arrivals and all bytes that were announced. */
DN_FN void dn_bar_init(dn_u64 *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(dn_shared_at(bar)), "r"(arrivals) : "memory");
}

/* After the last dn_bar_init, before __syncthreads. */
DN_FN void dn_bar_ready(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DN_FN void dn_bar_arrive_at(dn_u32 bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
DN_FN void dn_bar_arrive(dn_u64 *bar)
{
    dn_bar_arrive_at(dn_shared_at(bar));
}

/* Arrives, and announces bytes. */
DN_FN void dn_bar_expect_at(dn_u32 bar, dn_u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
DN_FN void dn_bar_expect(dn_u64 *bar, dn_u32 bytes)
{
    dn_bar_expect_at(dn_shared_at(bar), bytes);
}

/* Until the phase of this parity is over; the first has parity 0. */
DN_FN void dn_bar_wait_at(dn_u32 bar, dn_u32 parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(bar), "r"(parity) : "memory");
}
DN_FN void dn_bar_wait(dn_u64 *bar, dn_u32 parity)
{
    dn_bar_wait_at(dn_shared_at(bar), parity);
}

/* bytes and both addresses: multiples of 16 */
DN_FN void dn_bulk_load(void *shared, const void *from, dn_u32 bytes, dn_u64 *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dn_shared_at(shared)), "l"(from),
                 "r"(bytes), "r"(dn_shared_at(bar))
                 : "memory");
}

/* --- clusters --- */
DN_FN dn_u32 dn_cluster_rank(void)
{
    dn_u32 r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

/* All threads of the cluster: what they wrote before is seen by who waits after. */
DN_FN void dn_cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

DN_FN void dn_cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* The float at the same place of block `rank`'s shared memory. */
DN_FN float dn_cluster_float(const float *at, dn_u32 rank)
{
    dn_u32 there;
    float v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(dn_shared_at(at)), "r"(rank));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
    return v;
}

/* Four floats at the shared address `at` of block `rank`. */
DN_FN float4 dn_cluster_float4(dn_u32 at, dn_u32 rank)
{
    dn_u32 there;
    float4 v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(there));
    return v;
}

#endif
