/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tensor cores from capability 8.0 on: matrix fragments, and copies to shared memory that run beside them. Each has a form in C++ for
 * tests/emulated, where a warp's lanes meet at the same places.
 *
 * Fragments of m16n8k16, lane = 4 g + t: A holds in word i the elements (g + 8 (i & 1), 2 t + 8 (i >> 1)) and the next of the row; B in word i
 * (2 t + 8 i, g) and the next of the column; the sums are c[i] at (g + 8 (i >> 1), 2 t + (i & 1)). */
#ifndef DN_CUDA_MMA_CUH
#define DN_CUDA_MMA_CUH

#include "cuda/flat.cuh"

#if defined(DN_EMULATED)

/* In place of copies that run by themselves. */
DN_FN void dn_copy16(void *shared, const void *global, int bytes)
{
    memset(shared, 0, 16);
    memcpy(shared, global, (size_t)bytes);
}
DN_FN void dn_copy_commit()
{
}
template <int LEFT> DN_FN void dn_copy_wait()
{
}

DN_FN void dn_matrices(const void *row, dn_u32 v[4], bool turned)
{
    unsigned lane = emu_thread & 31, first = emu_thread & ~31u;
    emu_slot[emu_thread] = (uint64_t)(uintptr_t)row;
    emu_wait_warp(~0u);
    for (unsigned i = 0; i < 4; i++) {
        dn_u16 pair[2];
        for (unsigned k = 0; k < 2; k++) {
            unsigned at = turned ? 2 * (lane % 4) + k : lane / 4, column = turned ? lane / 4 : 2 * (lane % 4) + k;
            pair[k] = ((const dn_u16 *)(uintptr_t)emu_slot[first + 8 * i + at])[column];
        }
        v[i] = pair[0] | (dn_u32)pair[1] << 16;
    }
    emu_wait_warp(~0u);
}
DN_FN void dn_matrices_load(const void *row, dn_u32 v[4])
{
    dn_matrices(row, v, false);
}
DN_FN void dn_matrices_load_turned(const void *row, dn_u32 v[4])
{
    dn_matrices(row, v, true);
}

template <int T> DN_FN float dn_mma_part(dn_u32 word, unsigned half)
{
    dn_u16 h = (dn_u16)(word >> 16 * half);
    return T == DN_T_F16 ? dn_half_to_float(h) : dn_bf16_to_float(h);
}

/* c += a b for M x N fragments. */
template <int T, int M, int N> DN_FN void dn_mma_block(float (*c)[N][4], const dn_u32 (*a)[4], const dn_u32 (*b)[2])
{
    static float all_a[EMU_THREADS][M][4][2], all_b[EMU_THREADS][N][2][2];
    for (unsigned h = 0; h < 2; h++) {
        for (int i = 0; i < M * 4; i++)
            all_a[emu_thread][i / 4][i % 4][h] = dn_mma_part<T>(a[i / 4][i % 4], h);
        for (int i = 0; i < N * 2; i++)
            all_b[emu_thread][i / 2][i % 2][h] = dn_mma_part<T>(b[i / 2][i % 2], h);
    }
    emu_wait_warp(~0u);
    unsigned lane = emu_thread & 31, first = emu_thread & ~31u, g = lane / 4, t = lane % 4;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            for (unsigned i = 0; i < 4; i++)
                for (unsigned k = 0; k < 16; k++)
                    c[m][n][i] += all_a[first + 4 * g + k % 8 / 2][m][i / 2 + 2 * (k / 8)][k % 2]
                                * all_b[first + 4 * (2 * t + i % 2) + k % 8 / 2][n][k / 8][k % 2];
    emu_wait_warp(~0u);
}

#elif __CUDA_ARCH__ >= 800

DN_FN dn_u32 dn_shared_at(const void *p)
{
    return (dn_u32)__cvta_generic_to_shared(p);
}

/* The first `bytes` (0 .. 16) of 16 bytes, zeros behind them; both addresses are multiples of 16. */
DN_FN void dn_copy16(void *shared, const void *global, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dn_shared_at(shared)), "l"(global), "r"(bytes) : "memory");
}
/* Closes a group of copies; waits until at most LEFT of the latest groups run. */
DN_FN void dn_copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int LEFT> DN_FN void dn_copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

/* Four 8 x 8 matrices of 16-bit elements: lane 8 i + r names row r of matrix i (16 bytes); word i of lane 4 g + t gets the elements 2 t and
 * 2 t + 1 of row g, or, turned, of column g. */
DN_FN void dn_matrices_load(const void *row, dn_u32 v[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(dn_shared_at(row)) : "memory");
}
DN_FN void dn_matrices_load_turned(const void *row, dn_u32 v[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(dn_shared_at(row)) : "memory");
}

/* c += a b */
template <int T> DN_FN void dn_mma(float c[4], const dn_u32 a[4], const dn_u32 b[2])
{
    if (T == DN_T_F16)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <int T, int M, int N> DN_FN void dn_mma_block(float (*c)[N][4], const dn_u32 (*a)[4], const dn_u32 (*b)[2])
{
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
            dn_mma<T>(c[m][n], a[m], b[n]);
}

#endif
#endif
