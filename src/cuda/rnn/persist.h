/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * All steps of a layer in one launch, weights held on the chip: what the kernels take. Letters as in ops/rnn.h; shared with the kernels, so
 * built-in types alone. */
#ifndef DN_CUDA_RNN_PERSIST_H
#define DN_CUDA_RNN_PERSIST_H

/* Steps of depth whose weights lie in registers, where a product has so many rows for each unit and a warp so many blocks of 8 batch
 * elements: as many as 255 registers leave room for. */
#define DN_RNN_KEPT(rows, blocks) \
    ((rows) == 4 ? ((blocks) == 4 ? 12 : 16) : (rows) == 3 ? ((blocks) == 4 ? 16 : 20) : 32)

/* Where groups of blocks of the grid share a layer: warps of a block; numbers from the counter of a group to the next; and KEPT of it.
 * s: units / 8 of a block. */
enum { DN_RNN_GRID_WARPS = 8, DN_RNN_GRID_COUNTER = 32 };
#define DN_RNN_GRID_ROOM(rows, blocks, s) (((rows) * (s) * (((blocks) + 1) / 2) >= 12 ? 72 : 128) / (2 * (rows) * (s)) / 4 * 4)
#define DN_RNN_GRID_KEPT(rows, blocks, s) (DN_RNN_GRID_ROOM(rows, blocks, s) < 32 ? DN_RNN_GRID_ROOM(rows, blocks, s) : 32)

/* The backward pass in a cluster: warps of a block; tiles of 8 units and steps of depth whose weights a warp holds in registers; and how many
 * pairs of a tile and a step it does not hold. */
enum { DN_RNN_SCATTER_WARPS = 8, DN_RNN_SCATTER_HELD = 8 };
#define DN_RNN_SCATTER_REST(tiles, depth) \
    (((tiles) < 8 ? (tiles) : 8) * ((depth) > 8 ? (depth) - 8 : 0) + ((tiles) > 8 ? (tiles) - 8 : 0) * (depth))

/* A group of blocks (a cluster, or all blocks of the grid) does one direction for a slice of `batch` elements. Block number r of a group
 * owns the units r `units` and on; its warps split them by 8, the product's depth by the kernel's SPLIT, the batch by the kernel's BLOCKS
 * times 8. */
typedef struct dn_rnn_persist {
    const void *r[2];            /* [G H][H] data */
    const void *bias_n[2];       /* [H] f32 or NULL: GRU */
    const int *lengths;          /* [B] */
    float *gates;                /* [D][T B][gates_ld] */
    float *cell;                 /* [D][T B][H] */
    void *out;                   /* [T B][D H] data */
    void *h;                     /* [D][B][H] data */
    float *c;                    /* [D][B][H] */
    const float *dout;           /* [T B][D H] */
    void *dgates;                /* [D][T B][slots H] data */
    float *dh, *dc;              /* [D][B][H] */
    void *exchange;              /* grid: two buffers of states for each group of a launch */
    unsigned *arrived;           /* grid: their counters, 0 at the start */
    long long gates_pitch, cell_pitch, dgates_pitch;  /* elements from direction 0 to 1 */
    int gates_ld;
    int steps, batches, hidden, directions;   /* T, B, H, D */
    int blocks, units, slices, batch;         /* of a group; slices of one direction; elements of a slice, a multiple of 8 */
    int row_warps;               /* forward: units / 8; backward in a cluster: tiles of 8 units that a warp multiplies */
    int depth;                   /* steps of the product's depth (16 values, f32 8) that one warp takes */
    int first;                   /* grid: first group of this launch */
    int full, train, relu, bulk; /* all lengths are T; activations are kept; activation of a plain cell; states go by bulk copies */
    int clip, clip_nan;
    float clip_lo, clip_hi;
} dn_rnn_persist;

#endif
