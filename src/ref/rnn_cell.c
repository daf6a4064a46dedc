/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The units of recurrent networks, and their derivatives by what the reserve space keeps. Gates are rounded to the compute type where they are
 * made, so that training, inference and the gradients see the same. */
#include "ref/rnn.h"

#include <math.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

double dn_ref_rnn_clipped(const dn_rnn_job *j, double c)
{
    const dn_rnn_param *q = j->q;
    if (!q->clip || (q->clip_nan && isnan(c)))
        return c;
    return dn_ref_rnn_rounded(j, fmin(fmax(c, q->lclip), q->rclip));
}

/* A limit lets no gradient by the state through. */
static bool is_held(const dn_rnn_job *j, double c)
{
    return j->q->clip && (c < dn_ref_rnn_rounded(j, j->q->lclip) || c > dn_ref_rnn_rounded(j, j->q->rclip));
}

/* NaN stays NaN: max(0, x) would lose it. */
static double relu(double x)
{
    return x < 0 ? 0 : x;
}

/* Both products of a gate with their biases. */
static double whole(const dn_rnn_forward *f, int64_t i)
{
    return (f->input[i] + f->bias[0][i]) + (f->recurrent[i] + f->bias[1][i]);
}

static void lstm_forward(const dn_rnn_job *j, const dn_rnn_forward *f, int64_t u, int64_t n, double v[4][DN_RNN_UNITS], double *h)
{
    for (int64_t k = 0; k < n; k++) {
        for (int g = 0; g < 4; g++) {
            double x = whole(f, g * j->hidden + u + k);
            v[g][k] = dn_ref_rnn_rounded(j, g == 2 ? tanh(x) : sigmoid(x));
        }
        double c = dn_ref_rnn_rounded(j, v[1][k] * dn_ref_rnn_clipped(j, f->c[u + k]) + v[0][k] * v[2][k]);
        f->c[u + k] = c;
        h[k] = v[3][k] * tanh(dn_ref_rnn_clipped(j, c));
    }
}

static void gru_forward(const dn_rnn_job *j, const dn_rnn_forward *f, int64_t u, int64_t n, double v[4][DN_RNN_UNITS], double *h)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 2 * j->hidden + u + k;
        for (int g = 0; g < 2; g++)
            v[g][k] = dn_ref_rnn_rounded(j, sigmoid(whole(f, g * j->hidden + u + k)));
        v[3][k] = dn_ref_rnn_rounded(j, f->recurrent[at] + f->bias[1][at]);
        v[2][k] = dn_ref_rnn_rounded(j, tanh(f->input[at] + f->bias[0][at] + v[0][k] * v[3][k]));
        h[k] = (1 - v[1][k]) * v[2][k] + v[1][k] * f->h[u + k];
    }
}

void dn_ref_rnn_cell_forward(const dn_rnn_job *j, const dn_rnn_forward *f, int64_t u, int64_t n, double v[4][DN_RNN_UNITS], double *h)
{
    if (j->q->cell == DN_RNN_LSTM) {
        lstm_forward(j, f, u, n, v, h);
    } else if (j->q->cell == DN_RNN_GRU) {
        gru_forward(j, f, u, n, v, h);
    } else {
        for (int64_t k = 0; k < n; k++) {
            double x = whole(f, u + k);
            v[0][k] = h[k] = dn_ref_rnn_rounded(j, j->q->cell == DN_RNN_RELU ? relu(x) : tanh(x));
        }
    }
}

static void lstm_backward(const dn_rnn_job *j, const dn_rnn_backward *b, int64_t n, double v[4][DN_RNN_UNITS])
{
    for (int64_t k = 0; k < n; k++) {
        double i = v[0][k], f = v[1][k], g = v[2][k], o = v[3][k], t = tanh(dn_ref_rnn_clipped(j, b->c[k]));
        double dc = b->dc[k] + (is_held(j, b->c[k]) ? 0 : b->dh[k] * o * (1 - t * t));
        v[0][k] = dc * g * i * (1 - i);
        v[1][k] = dc * dn_ref_rnn_clipped(j, b->c_before[k]) * f * (1 - f);
        v[2][k] = dc * i * (1 - g * g);
        v[3][k] = b->dh[k] * t * o * (1 - o);
        b->dc[k] = is_held(j, b->c_before[k]) ? 0 : dc * f;
    }
}

static void gru_backward(const dn_rnn_backward *b, int64_t n, double v[4][DN_RNN_UNITS])
{
    for (int64_t k = 0; k < n; k++) {
        double r = v[0][k], z = v[1][k], m = v[2][k], product = v[3][k];
        double dm = b->dh[k] * (1 - z) * (1 - m * m);
        v[0][k] = dm * product * r * (1 - r);
        v[1][k] = b->dh[k] * (b->h_before[k] - m) * z * (1 - z);
        v[2][k] = dm;
        v[3][k] = dm * r;
        b->carry[k] = b->dh[k] * z;
    }
}

void dn_ref_rnn_cell_backward(const dn_rnn_job *j, const dn_rnn_backward *b, int64_t n, double v[4][DN_RNN_UNITS])
{
    if (j->q->cell == DN_RNN_LSTM) {
        lstm_backward(j, b, n, v);
    } else if (j->q->cell == DN_RNN_GRU) {
        gru_backward(b, n, v);
    } else {
        for (int64_t k = 0; k < n; k++) {
            double y = v[0][k];
            v[0][k] = j->q->cell == DN_RNN_RELU ? (y > 0 ? b->dh[k] : 0) : b->dh[k] * (1 - y * y);
        }
    }
}
