/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cells of recurrent networks, a thread for one unit of one batch element. The file that includes this defines
 *     REAL, EXP, TANH            what is computed in, and its functions
 *     data_get(p, base, i)       an element of the data type, data_put(p, base, i, v) likewise; p: the kernel's struct
 *     sum_get, sum_put           of the compute type
 *     STEP, PROJECT, BACK, BACK_PROJECT, PREVIOUS, CELLS   names of the kernels */

#include "cuda/rnn/cell_fn.cuh"

/* --- forward --- */

extern "C" __global__ void __launch_bounds__(256) STEP(const __grid_constant__ dn_rnn_step p)
{
    dn_s64 count = p.directions * p.batch * p.hidden;
    int gates = p.cell_kind == LSTM_CELL ? 4 : p.cell_kind == GRU_CELL ? 3 : 1;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        unit_at at = place(i, p.hidden, p.batch, p.steps, p.step, p.lengths, p.full);
        REAL sum[4], h = 0;
        if (at.alive) {
            dn_s64 from = (at.d * p.batch + at.b) * gates * p.hidden + at.u, to = at.d * p.gates_pitch + at.row * p.gates_ld + at.u;
#pragma unroll
            for (int g = 0; g < 4; g++)
                sum[g] = input_of(&p, to, g) + (g < gates ? sum_get(&p, p.recurrent, from + g * p.hidden) : (REAL)0);
            h = cell_forward(&p, &at, sum, state_of(&p, i));
        }
        if (p.m) {
            data_put(&p, p.m, i, h);
            continue;
        }
        data_put(&p, p.out, (at.row * p.directions + at.d) * p.hidden + at.u, h);
        if (at.alive)
            data_put(&p, p.h, i, h);
    }
}

/* The projected states to where STEP puts its own. */
extern "C" __global__ void __launch_bounds__(256) PROJECT(const __grid_constant__ dn_rnn_step p)
{
    dn_s64 count = p.directions * p.batch * p.proj;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        unit_at at = place(i, p.proj, p.batch, p.steps, p.step, p.lengths, p.full);
        REAL h = at.alive ? sum_get(&p, p.recurrent, i) : (REAL)0;
        data_put(&p, p.out, (at.row * p.directions + at.d) * p.proj + at.u, h);
        if (at.alive)
            data_put(&p, p.h, i, h);
    }
}

/* --- backward --- */

/* The row of the state before, where there is one (not at.first). */
DN_FN dn_s64 row_before(const unit_at *at, dn_s64 batch)
{
    return at->d ? at->row + batch : at->row - batch;
}

/* v: the gates, then their gradients. */
DN_FN void lstm_backward(const dn_rnn_back *p, const unit_at *at, REAL dh, REAL v[4])
{
    dn_s64 cell = at->d * p->cell_pitch + at->row * p->hidden + at->u;
    REAL c = sum_get(p, p->cell, cell), t = TANH(clipped(&p->clip, c)), i = v[0], f = v[1], g = v[2], o = v[3];
    REAL before = at->first ? sum_get(p, p->c, at->state) : sum_get(p, p->cell, at->d * p->cell_pitch + row_before(at, p->batch) * p->hidden + at->u);
    REAL dc = sum_get(p, p->dc, at->state) + (is_held(&p->clip, c) ? (REAL)0 : dh * o * (1 - t * t));
    v[0] = dc * g * i * (1 - i);
    v[1] = dc * clipped(&p->clip, before) * f * (1 - f);
    v[2] = dc * i * (1 - g * g);
    v[3] = dh * t * o * (1 - o);
    sum_put(p, p->dc, at->state, is_held(&p->clip, before) ? (REAL)0 : dc * f);
}

DN_FN void gru_backward(const dn_rnn_back *p, const unit_at *at, REAL dh, REAL v[4])
{
    REAL r = v[0], z = v[1], n = v[2], product = v[3];
    REAL before = at->first ? data_get(p, p->h, at->state)
                            : data_get(p, p->out, (row_before(at, p->batch) * p->directions + at->d) * p->proj + at->u);
    REAL dn = dh * (1 - z) * (1 - n * n);
    v[0] = dn * product * r * (1 - r);
    v[1] = dh * (before - n) * z * (1 - z);
    v[2] = dn;
    v[3] = dn * r;
    sum_put(p, p->dh, at->state, dh * z);
}

extern "C" __global__ void __launch_bounds__(256) BACK(const __grid_constant__ dn_rnn_back p)
{
    dn_s64 count = p.directions * p.batch * p.hidden;
    int slots = p.cell_kind == LSTM_CELL || p.cell_kind == GRU_CELL ? 4 : 1;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        unit_at at = place(i, p.hidden, p.batch, p.steps, p.step, p.lengths, p.full);
        dn_s64 gates = at.row * slots * p.hidden + at.u;
        REAL v[4] = { 0, 0, 0, 0 };
        if (at.alive) {
            REAL dh = p.dm ? sum_get(&p, p.dm, i)
                           : sum_get(&p, p.dh, i) + sum_get(&p, p.dout, (at.row * p.directions + at.d) * p.hidden + at.u);
#pragma unroll
            for (int s = 0; s < 4; s++)
                v[s] = s < slots ? sum_get(&p, p.gates, at.d * p.gates_pitch + gates + s * p.hidden) : (REAL)0;
            if (!p.dm)
                sum_put(&p, p.dh, i, 0);
            if (p.cell_kind == LSTM_CELL)
                lstm_backward(&p, &at, dh, v);
            else if (p.cell_kind == GRU_CELL)
                gru_backward(&p, &at, dh, v);
            else
                v[0] = p.cell_kind == TANH_CELL ? dh * (1 - v[0] * v[0]) : v[0] > 0 ? dh : (REAL)0;
        }
#pragma unroll
        for (int s = 0; s < 4; s++)
            if (s < slots)
                data_put(&p, p.dgates, at.d * p.dgates_pitch + gates + s * p.hidden, v[s]);
    }
}

/* The whole gradient by the projected state, to dproj. */
extern "C" __global__ void __launch_bounds__(256) BACK_PROJECT(const __grid_constant__ dn_rnn_back p)
{
    dn_s64 count = p.directions * p.batch * p.proj;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        unit_at at = place(i, p.proj, p.batch, p.steps, p.step, p.lengths, p.full);
        REAL dh = 0;
        if (at.alive) {
            dh = sum_get(&p, p.dh, i) + sum_get(&p, p.dout, (at.row * p.directions + at.d) * p.proj + at.u);
            sum_put(&p, p.dh, i, 0);
        }
        data_put(&p, p.dproj, at.d * p.dproj_pitch + at.row * p.proj + at.u, dh);
    }
}

/* --- what the gradients by the weights multiply with --- */

extern "C" __global__ void __launch_bounds__(256) PREVIOUS(const __grid_constant__ dn_rnn_previous p)
{
    dn_s64 count = p.steps * p.batch * p.proj;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, p.proj), k = i - row * p.proj, t = dn_quotient(row, p.batch), b = row - t * p.batch, length = p.full ? p.steps : p.lengths[b];
        REAL v = 0;
        if (t < length && (p.backward ? t == length - 1 : t == 0))
            v = data_get(&p, p.h, b * p.proj + k);
        else if (t < length)
            v = data_get(&p, p.out, (p.backward ? row + p.batch : row - p.batch) * p.out_ld + k);
        data_put(&p, p.to, i, v);
    }
}

extern "C" __global__ void __launch_bounds__(256) CELLS(const __grid_constant__ dn_rnn_cells p)
{
    dn_s64 count = p.steps * p.batch * p.hidden;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, p.hidden), u = i - row * p.hidden, t = dn_quotient(row, p.batch);
        bool alive = p.full || t < p.lengths[row - t * p.batch];
        REAL m = alive ? TANH(clipped(&p.clip, sum_get(&p, p.cell, i))) : (REAL)0;
        data_put(&p, p.to, i, alive ? sum_get(&p, p.gates, row * 4 * p.hidden + 3 * p.hidden + u) * m : m);
    }
}
