/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What one unit of a recurrent network does at a step, and where it stands. The file that includes this defines what cell.cuh says of REAL,
 * EXP, TANH and the ways to memory. */

enum { RELU_CELL, TANH_CELL, LSTM_CELL, GRU_CELL };

DN_FN REAL sigmoid(REAL x)
{
    return 1 / (1 + EXP(-x));
}

DN_FN REAL clipped(const dn_rnn_clip *p, REAL c)
{
    if (!p->on || (p->nan && c != c))
        return c;
    c = c > (REAL)p->lo ? c : (REAL)p->lo;  /* NaN becomes a limit */
    return c < (REAL)p->hi ? c : (REAL)p->hi;
}

/* A limit lets no gradient by the state through. */
DN_FN bool is_held(const dn_rnn_clip *p, REAL c)
{
    return p->on && (c < (REAL)p->lo || c > (REAL)p->hi);
}

/* Where a thread's unit is. columns: units, or values of the projected state. */
typedef struct unit_at {
    dn_s64 d, b, u, row, state;  /* state: (d B + b) columns + u */
    bool first;                  /* of its sequence, in this direction */
    bool alive;
} unit_at;

DN_FN unit_at place(dn_s64 i, dn_s64 columns, dn_s64 batch, dn_s64 steps, dn_s64 step, const int *lengths, int full)
{
    unit_at at;
    dn_s64 line = dn_quotient(i, columns);
    at.state = i;
    at.u = i - line * columns;
    at.d = line >= batch;
    at.b = at.d ? line - batch : line;
    dn_s64 t = at.d ? steps - 1 - step : step, length = full ? steps : lengths[at.b];
    at.row = t * batch + at.b;
    at.alive = t < length;
    at.first = at.d ? t == length - 1 : t == 0;
    return at;
}

/* sum: of the gates; c: before the step. Keeps what training wants and answers h'. */
DN_FN REAL lstm_forward(const dn_rnn_step *p, const unit_at *at, const REAL sum[4], REAL c)
{
    REAL i = sigmoid(sum[0]), f = sigmoid(sum[1]), g = TANH(sum[2]), o = sigmoid(sum[3]);
    dn_s64 gates = at->d * p->gates_pitch + at->row * p->gates_ld + at->u;
    sum_put(p, p->c, at->state, f * clipped(&p->clip, c) + i * g);
    c = sum_get(p, p->c, at->state);
    if (p->train) {
        sum_put(p, p->gates, gates, i);
        sum_put(p, p->gates, gates + p->hidden, f);
        sum_put(p, p->gates, gates + 2 * p->hidden, g);
        sum_put(p, p->gates, gates + 3 * p->hidden, o);
        sum_put(p, p->cell, at->d * p->cell_pitch + at->row * p->hidden + at->u, c);
    }
    return o * TANH(clipped(&p->clip, c));
}

/* sum: of r and z, R_n h, W_n x with its bias; h: before the step. */
DN_FN REAL gru_forward(const dn_rnn_step *p, const unit_at *at, const REAL sum[4], REAL h)
{
    REAL r = sigmoid(sum[0]), z = sigmoid(sum[1]), product = sum[2] + sum_get(p, p->bias_n, at->d * p->bias_pitch + at->u);
    REAL n = TANH(sum[3] + r * product);
    dn_s64 gates = at->d * p->gates_pitch + at->row * p->gates_ld + at->u;
    if (p->train) {
        sum_put(p, p->gates, gates, r);
        sum_put(p, p->gates, gates + p->hidden, z);
        sum_put(p, p->gates, gates + 2 * p->hidden, n);
        sum_put(p, p->gates, gates + 3 * p->hidden, product);
    }
    return (1 - z) * n + z * h;
}

DN_FN REAL plain_forward(const dn_rnn_step *p, const unit_at *at, REAL sum)
{
    REAL h = p->cell_kind == TANH_CELL ? TANH(sum) : sum < 0 ? (REAL)0 : sum;
    if (p->train)
        sum_put(p, p->gates, at->d * p->gates_pitch + at->row * p->gates_ld + at->u, h);
    return h;
}

/* What the input adds to sum number g, as the functions above have them; gates: the unit's first. */
DN_FN REAL input_of(const dn_rnn_step *p, dn_s64 gates, int g)
{
    if (p->cell_kind == GRU_CELL)
        return g == 2 ? (REAL)0 : sum_get(p, p->gates, gates + (g == 3 ? 2 : g) * p->hidden);
    return p->cell_kind == LSTM_CELL || g == 0 ? sum_get(p, p->gates, gates + g * p->hidden) : (REAL)0;
}

/* The state that a unit has of its own. */
DN_FN REAL state_of(const dn_rnn_step *p, dn_s64 state)
{
    return p->cell_kind == LSTM_CELL ? sum_get(p, p->c, state) : p->cell_kind == GRU_CELL ? data_get(p, p->h, state) : (REAL)0;
}

DN_FN REAL cell_forward(const dn_rnn_step *p, const unit_at *at, const REAL sum[4], REAL state)
{
    return p->cell_kind == LSTM_CELL ? lstm_forward(p, at, sum, state) : p->cell_kind == GRU_CELL ? gru_forward(p, at, sum, state)
                                                                                                   : plain_forward(p, at, sum[0]);
}
