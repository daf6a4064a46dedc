/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Instructions and types of the persistent recurrences. A file that includes this defines the data's type (RNN_F16, RNN_BF16, RNN_F32) and
 * the cell (RNN_LSTM, RNN_GRU, RNN_PLAIN). */
#ifndef DN_CUDA_RNN_PERSIST_CUH
#define DN_CUDA_RNN_PERSIST_CUH

#include "cuda/common.cuh"
#include "cuda/rnn/persist.h"

/* States lie in chunks of 8 batch elements x 16 bytes of units: the matrices that ldmatrix loads. */
#if defined(RNN_F32)
typedef float rnn_data;
#define CHUNK 4
#else
typedef dn_u16 rnn_data;
#define CHUNK 8
#endif
#define CHUNKS (8 / CHUNK) /* of a warp's 8 units */

#if defined(RNN_LSTM)
#define GATES 4
#define SLOTS 4
#elif defined(RNN_GRU)
#define GATES 3
#define SLOTS 4
#else
#define GATES 1
#define SLOTS 1
#endif

/* --- shared memory, clusters --- */
DN_FN dn_u32 shared_address(const void *p)
{
    return (dn_u32)__cvta_generic_to_shared(p);
}

DN_FN dn_u32 cluster_rank(void)
{
    dn_u32 r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

/* The same place in the shared memory of another block of the cluster. */
DN_FN dn_u32 shared_of(dn_u32 address, dn_u32 rank)
{
    dn_u32 r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
    return r;
}

DN_FN void cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

DN_FN void barrier_init(dn_u32 bar)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
}

DN_FN void barrier_init_visible(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DN_FN void barrier_expect(dn_u32 bar, dn_u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

DN_FN void barrier_wait(dn_u32 bar, dn_u32 parity)
{
    int done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done) : "r"(bar), "r"(parity) : "memory");
}

/* What threads stored may from here on be read by bulk copies. */
DN_FN void fence_async(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Shared memory from here to another block, whose barrier counts the bytes. */
DN_FN void send_bulk(dn_u32 to, dn_u32 from, dn_u32 bytes, dn_u32 bar)
{
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "r"(from), "r"(bytes), "r"(bar) : "memory");
}

DN_FN void send16(dn_u32 to, uint4 v, dn_u32 bar)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
                 ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(bar) : "memory");
}

DN_FN void send8(dn_u32 to, dn_u32 v0, dn_u32 v1, dn_u32 bar)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
                 ::"r"(to), "r"(v0), "r"(v1), "r"(bar) : "memory");
}

DN_FN uint4 shared_load16(dn_u32 from)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from) : "memory");
    return v;
}

DN_FN uint2 shared_load8(dn_u32 from)
{
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(from) : "memory");
    return v;
}

DN_FN void shared_store16(dn_u32 to, uint4 v)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

DN_FN void shared_store8(dn_u32 to, dn_u32 v0, dn_u32 v1)
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(v0), "r"(v1) : "memory");
}

DN_FN void shared_store4(dn_u32 to, dn_u32 v)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(v) : "memory");
}

DN_FN void prefetch_l2(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* --- matrices --- */
/* Four chunks; lane l gives the row l % 8 of chunk l / 8 and gets 4 bytes l % 4 of row l / 4 of each. */
DN_FN void load_chunks(dn_u32 address, dn_u32 (&r)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

/* d += a b: 16 rows, 8 columns, depth 16 (f32: 8). */
DN_FN void multiply_add(float (&d)[4], const dn_u32 (&a)[4], dn_u32 b0, dn_u32 b1)
{
#if defined(RNN_F32)
#define RNN_MMA "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#elif defined(RNN_F16)
#define RNN_MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#else
#define RNN_MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#endif
    asm(RNN_MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* --- elements --- */
DN_FN float widen(rnn_data v)
{
#if defined(RNN_F32)
    return v;
#elif defined(RNN_F16)
    return dn_half_to_float(v);
#else
    return dn_bf16_to_float(v);
#endif
}

DN_FN rnn_data narrow(float v)
{
#if defined(RNN_F32)
    return v;
#elif defined(RNN_F16)
    return dn_float_to_half(v);
#else
    dn_u16 h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(v));
    return h;
#endif
}

#if !defined(RNN_F32)
DN_FN dn_u32 narrow_two(const float (&v)[2])
{
    return (dn_u32)narrow(v[0]) | (dn_u32)narrow(v[1]) << 16;
}
#endif

/* Two neighbours in memory. */
DN_FN void load_two(const float *from, float (&v)[2])
{
    float2 x = *(const float2 *)from;
    v[0] = x.x;
    v[1] = x.y;
}

DN_FN void widen_two(const rnn_data *from, float (&v)[2])
{
#if defined(RNN_F32)
    load_two(from, v);
#else
    dn_u32 x = *(const dn_u32 *)from;
    v[0] = widen((dn_u16)x);
    v[1] = widen((dn_u16)(x >> 16));
#endif
}

DN_FN void store_two(rnn_data *to, const float (&v)[2])
{
#if defined(RNN_F32)
    *(float2 *)to = make_float2(v[0], v[1]);
#else
    *(dn_u32 *)to = narrow_two(v);
#endif
}

/* f32 goes into products as the nearest tf32. */
DN_FN dn_u32 to_tf32(float v)
{
    dn_u32 r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}

DN_FN uint4 to_state16(uint4 v)
{
#if defined(RNN_F32)
    return make_uint4(to_tf32(__uint_as_float(v.x)), to_tf32(__uint_as_float(v.y)), to_tf32(__uint_as_float(v.z)), to_tf32(__uint_as_float(v.w)));
#else
    return v;
#endif
}

/* --- functions: 1 / (1 + 2^(-x log2 e)), from instructions with relative errors of 2^-22 --- */
DN_FN float exp2_of(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

DN_FN float inverse(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

DN_FN float sigmoid(float x)
{
    return inverse(1.0f + exp2_of(-1.4426950409f * x));
}

DN_FN float tanh_of(float x)
{
    return fmaf(-2.0f, inverse(1.0f + exp2_of(2.8853900818f * x)), 1.0f);
}

#endif
