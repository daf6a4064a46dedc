/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of ref's recurrent networks share. Letters as in ops/rnn.h; a row is a position (t, b), number t B + b.
 * Only rows of living sequences are computed. They are listed by time, so any stretch of steps is one stretch of the list, and the input
 * products of a stretch are one matrix product, as are those of a step's states. */
#ifndef DN_REF_RNN_H
#define DN_REF_RNN_H

#include "ops/rnn.h"
#include "ref/conv.h"

/* --- matrix products of doubles in panels (rnn_gemm.c); the kernels are the convolution's --- */

/* Lines of len values each: line j begins at element at[j], or at first + j pitch where at is NULL. */
typedef struct dn_rnn_lines {
    dn_dtype type;
    const void *base;
    const int64_t *at;
    int64_t first, pitch;
    int64_t count, len;
} dn_rnn_lines;

/* Panels of w lines: panel[line / w][value][line % w]; the last one is filled up with zeros. */
void dn_ref_rnn_pack_lines(const dn_rnn_lines *l, int w, double *panel);
/* Panels of w values: panel[value / w][line][value % w]. */
void dn_ref_rnn_pack_values(const dn_rnn_lines *l, int w, double *panel);
/* c[i][j] += sum over k of a[i][k] b[k][j]: a in panels of k->mr rows, b of k->nr columns. Whole panels are written: c has room for m and n
 * rounded up, rows ldc apart. Every sum has an order of its own length alone. */
void dn_ref_rnn_multiply(const dn_conv_kernel *k, int64_t m, int64_t n, int64_t steps, const double *a, const double *b, double *c, int64_t ldc);

/* --- memory: the same calls count it (base NULL) and hand it out --- */
typedef struct dn_rnn_room {
    char *base;
    size_t used;  /* SIZE_MAX once it is past that */
} dn_rnn_room;
dn_rnn_room dn_ref_rnn_room_of(void *workspace);  /* whose size is that of dn_ref_rnn_room_bytes */
size_t dn_ref_rnn_room_bytes(const dn_rnn_room *r);
void *dn_ref_rnn_take(dn_rnn_room *r, int64_t count, int64_t each, size_t size);  /* count * each elements of this size */

/* --- one call (rnn_job.c) --- */
typedef struct dn_rnn_job {
    const dn_problem *p;
    const dn_rnn_param *q;
    const dn_args *a;
    const dn_conv_kernel *k;
    int64_t time, batch, hidden, proj, width;  /* T B H P, D P */
    int layers, directions, gates, slots;
    dn_dtype type, compute;
    int64_t wide;         /* gates H, rounded up to whole panels: the pitch of rows of gates */
    int64_t chunk_steps, chunk_rows;  /* steps whose input products are made at once, and the rows that they have at most */
    dn_rnn_reserve at;
    unsigned char *out[2];   /* outputs of even and odd layers [T B][D P] where there is no reserve space */
    unsigned char *dropped;  /* the input of the layer at hand after dropout [T B][D P] */
    int64_t *length;         /* [B] */
    int64_t *packed;         /* [T] rows of a packed sequence before this time */
    int64_t *rows, *first;   /* [T B] the rows that live, [T + 1] where those of a time begin */
    int64_t *offsets;        /* [chunk_rows or B] scratch: where lines begin */
    uint64_t seed, call, threshold;  /* of dropout */
    double scale;
} dn_rnn_job;

/* a NULL: only sizes are wanted. */
void dn_ref_rnn_job_init(dn_rnn_job *j, const dn_problem *p, const dn_args *a, dn_rnn_room *room);
/* Where (t, b) begins in X or Y, in elements. */
int64_t dn_ref_rnn_offset(const dn_rnn_job *j, const dn_tensor *t, int64_t row);
unsigned char *dn_ref_rnn_section(const dn_rnn_job *j, size_t offset, size_t pitch, int64_t i);  /* of the reserve space */
unsigned char *dn_ref_rnn_out(const dn_rnn_job *j, int layer);
/* The row's previous one in this direction; -1 where the state before is the initial one. */
int64_t dn_ref_rnn_before(const dn_rnn_job *j, int direction, int64_t row);
/* The input of a layer as lines, one for each of the listed rows begin .. end - 1. Layers that dropout stands before want dn_ref_rnn_drop. */
void dn_ref_rnn_input_lines(const dn_rnn_job *j, int layer, int64_t begin, int64_t end, dn_rnn_lines *l);
bool dn_ref_rnn_drops(const dn_rnn_job *j, int layer);  /* dropout stands before this layer */
void dn_ref_rnn_drop(const dn_rnn_job *j, int layer);   /* fills j->dropped with the input of this layer */
/* Scales what dropout before this layer keeps of values at .. at + n - 1 of a row and clears the rest. */
void dn_ref_rnn_mask(const dn_rnn_job *j, int layer, int64_t row, int64_t at, int64_t n, double *v);
/* The forward call takes the next number of the states' calls, and leaves the one that it used in the reserve space. */
void dn_ref_rnn_keep_head(const dn_rnn_job *j);
/* A section of the reserve space with n values per row: rows past the ends of sequences are cleared. */
void dn_ref_rnn_clear_padding(const dn_rnn_job *j, unsigned char *section, int64_t n);
/* Fills the rows past the ends of sequences of a padded tensor. */
void dn_ref_rnn_fill_padding(const dn_rnn_job *j, const dn_tensor *t, void *base, double value);
/* The first dn_rnn_gates input (0) or recurrent (1) matrices of a pseudo layer as lines, one per unit of every gate. at: room for gates H. */
void dn_ref_rnn_weight_lines(const dn_rnn_job *j, int pseudo, int recurrent, int64_t *at, dn_rnn_lines *l);
void dn_ref_rnn_proj_lines(const dn_rnn_job *j, int pseudo, dn_rnn_lines *l);
/* States and their gradients [L D][B][size]: NULL is zeros on the way in, not wanted on the way out. */
void dn_ref_rnn_state_load(const dn_rnn_job *j, const void *from, int pseudo, int64_t size, double *to);
void dn_ref_rnn_state_store(const dn_rnn_job *j, void *to, int pseudo, int64_t size, const double *from);

static inline int64_t dn_ref_rnn_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- cells (rnn_cell.c): n units of one row, from unit u on --- */
enum { DN_RNN_UNITS = 256 };  /* of one call at most */

static inline int64_t dn_ref_rnn_pieces(int64_t units)
{
    return dn_ceil_div(units, DN_RNN_UNITS);
}

static inline double dn_ref_rnn_rounded(const dn_rnn_job *j, double v)
{
    return j->compute == DN_F32 ? (double)(float)v : v;
}

typedef struct dn_rnn_forward {
    const double *input, *recurrent;  /* products of the row [G H] */
    const double *bias[2];            /* of the input and recurrent products [G H] */
    const double *h;                  /* state before [H], ReLU, tanh, GRU without projection */
    double *c;                        /* state [H]: c, then c' */
} dn_rnn_forward;

double dn_ref_rnn_clipped(const dn_rnn_job *j, double c);  /* a state of an LSTM as it is read */
/* v[slot]: what the reserve space keeps, rounded; h: h' before the projection, not rounded. */
void dn_ref_rnn_cell_forward(const dn_rnn_job *j, const dn_rnn_forward *f, int64_t u, int64_t n, double v[4][DN_RNN_UNITS], double *h);

typedef struct dn_rnn_backward {
    const double *dh;  /* [n] by h' before the projection */
    double *dc;        /* [n] LSTM: by c', then by c */
    double *carry;     /* [n] GRU: part of the gradient by h that goes round the products */
    const double *c, *c_before, *h_before;  /* [n] */
} dn_rnn_backward;

/* v[slot]: gates of the row, then their gradients, not rounded. */
void dn_ref_rnn_cell_backward(const dn_rnn_job *j, const dn_rnn_backward *b, int64_t n, double v[4][DN_RNN_UNITS]);

#endif
