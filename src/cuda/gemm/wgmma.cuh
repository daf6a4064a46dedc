/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Products by a group of 128 threads (wgmma) of operands in shared memory, put there by the copy engine in tiles of 128 bytes by rows, and
 * swizzled: 16-byte chunk c of row r lies at c ^ (r & 7). The file that includes this defines WGMMA_TYPE, "f16" or "bf16".
 *
 * An operand whose rows are outputs (64 steps of the sum along a row) is a column of groups of 8 rows, 1024 bytes each; 16 steps further are
 * 32 bytes. A turned one has steps as rows (64 outputs along a row): 16 steps further are 2048 bytes, 64 outputs further a tile of 64 rows. */
#ifndef DN_CUDA_GEMM_WGMMA_CUH
#define DN_CUDA_GEMM_WGMMA_CUH

#include "cuda/bulk.cuh"
#include "cuda/gemm/gemm.h"

enum { DN_WGMMA_ROW = 128, DN_WGMMA_SQUARE = 64 * DN_WGMMA_ROW };  /* bytes of a row, and of 64 */

/* Description of an operand that begins at a shared address: start / 16 in bits 0 .. 13, the step to the next 64 outputs of a turned one / 16
 * in bits 16 .. 29 (1 where there is none), the step to the next 8 rows / 16 in bits 32 .. 45, 1 (swizzle of 128 bytes) in bits 62, 63. */
DN_FN dn_u64 dn_wgmma_operand(dn_u32 at, bool turned)
{
    return (dn_u64)((at & 0x3ffff) >> 4) | (dn_u64)(turned ? DN_WGMMA_SQUARE >> 4 : 1) << 16 | (dn_u64)(1024 >> 4) << 32 | 1ull << 62;
}

/* The sums' registers are the group's own from here on; all since the last commit is one batch; until at most LEFT batches run. */
DN_FN void dn_wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
DN_FN void dn_wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int LEFT> DN_FN void dn_wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/* d = a b, or d += a b where add is not 0: 64 x 16 by 16 x N. Thread 32 w + 4 g + t has in d[4 j + 2 h + i] the sum at
 * (16 w + g + 8 h, 8 j + 2 t + i). */
template <int TURNED_A, int TURNED_B> DN_FN void dn_wgmma(float (&d)[64], dn_u64 a, dn_u64 b, int add)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.ne.b32 add, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32." WGMMA_TYPE "." WGMMA_TYPE " {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, add, 1, 1, %67, %68;\n"
                 "}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                   "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                   "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                   "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b), "r"(add), "n"(TURNED_A), "n"(TURNED_B));
}

template <int TURNED_A, int TURNED_B> DN_FN void dn_wgmma(float (&d)[32], dn_u64 a, dn_u64 b, int add)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.ne.b32 add, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32." WGMMA_TYPE "." WGMMA_TYPE " {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, add, 1, 1, %35, %36;\n"
                 "}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(add), "n"(TURNED_A), "n"(TURNED_B));
}

/* The box of a tensor that begins at (x, y, z), x along its rows; what lies outside the tensor comes as zeros. */
DN_FN void dn_box_load(dn_u32 shared, const dn_gemm_map *map, dn_u32 bar, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared),
                 "l"(map), "r"(bar), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/* Asks for a description ahead of its first use. */
DN_FN void dn_map_prefetch(const dn_gemm_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* One thread of the warp. */
DN_FN bool dn_elected()
{
    dn_u32 p;
    asm volatile("{\n"
                 ".reg .pred one;\n"
                 "elect.sync _|one, 0xffffffff;\n"
                 "selp.u32 %0, 1, 0, one;\n"
                 "}\n" : "=r"(p));
    return p != 0;
}

#endif
