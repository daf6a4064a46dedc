/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss of any type, strides and alignment, in double and logarithms as in src/ref/ctc.c. A block works on one sample at a time, its
 * threads on the states of a step side by side; a forward pass keeps log a of all steps, a backward one makes log b and the gradients of one
 * step after another. Sums are trees or have one thread, so bits do not depend on the run. */
#include "cuda/ctc/ctc.h"
#include "cuda/team.cuh"

enum { FINE, SHORT, BROKEN };

typedef struct sample {
    const int *label;
    int n, steps, labels, states;
    double *log_a;          /* steps x states */
    double *log_b, *ahead;  /* states: of this step; log y + log b of the next one */
    double *sum;            /* classes */
    double *top, *rest;     /* steps: maximum over the classes, logarithm of the sum of e^(x - maximum) */
} sample;

DN_FN double block_sum(double v, double *sh)
{
    return dn_team_sum(v, DN_CTC_NAIVE_BLOCK, sh);
}

DN_FN double log_add(double a, double b, double c)
{
    double m = fmax(a, fmax(b, c));
    if (m == -DN_INF_D)
        return a + b + c;
    return m + log(exp(a - m) + exp(b - m) + exp(c - m));
}

DN_FN int class_of(const sample *s, int state)
{
    return state & 1 ? s->label[state / 2] : 0;
}

DN_FN bool may_skip(const sample *s, int state)
{
    return (state & 1) && state >= 3 && s->label[state / 2] != s->label[state / 2 - 1];
}

DN_FN double load_x(const dn_ctc_naive *p, const sample *s, int t, int k)
{
    return dn_load(&p->x, t * p->x_stride[0] + s->n * p->x_stride[1] + k * p->x_stride[2]);
}

DN_FN double log_y(const dn_ctc_naive *p, const sample *s, int t, int k)
{
    double x = load_x(p, s, t, k);
    return p->c.norm ? x - s->top[t] - s->rest[t] : log(x);
}

/* Finds the sample's labels and says whether they can be worked on. */
DN_FN int look(const dn_ctc_naive *p, sample *s, double *sh)
{
    double before = 0, bad = 0, need = 0;
    for (int m = (int)threadIdx.x; m < s->n; m += DN_CTC_NAIVE_BLOCK) {
        before += p->c.label_lengths[m] > 0 ? p->c.label_lengths[m] : 0;
        bad += p->c.label_lengths[m] > p->c.max_label;
    }
    if (block_sum(bad, sh) > 0)
        return BROKEN;  /* where its labels lie is not known */
    bad = 0;
    s->label = p->c.labels + (dn_s64)block_sum(before, sh);
    s->steps = p->c.input_lengths[s->n];
    s->labels = p->c.label_lengths[s->n];
    s->states = 2 * s->labels + 1;
    if (s->steps < 0 || s->steps > p->c.steps || s->labels < 0 || s->labels > p->c.max_label)
        return BROKEN;
    for (int i = (int)threadIdx.x; i < s->labels; i += DN_CTC_NAIVE_BLOCK) {
        bad += s->label[i] < 0 || s->label[i] >= p->c.classes;
        need += 1 + (i && s->label[i] == s->label[i - 1]);
    }
    bad = block_sum(bad, sh);
    need = block_sum(need, sh);
    return bad > 0 ? BROKEN : s->steps < need ? SHORT : FINE;
}

DN_FN void normalise(const dn_ctc_naive *p, const sample *s)
{
    for (int t = (int)threadIdx.x; t < s->steps && p->c.norm; t += DN_CTC_NAIVE_BLOCK) {
        double m = -DN_INF_D, sum = 0;
        for (int k = 0; k < p->c.classes; k++)
            m = fmax(m, load_x(p, s, t, k));
        for (int k = 0; k < p->c.classes; k++)
            sum += exp(load_x(p, s, t, k) - m);
        s->top[t] = m;
        s->rest[t] = log(sum);
    }
    __syncthreads();
}

DN_FN double forward(const dn_ctc_naive *p, const sample *s)
{
    int n = s->states;
    for (int t = 0; t < s->steps; t++) {
        double *now = s->log_a + (dn_s64)t * n;
        const double *last = now - n;
        for (int i = (int)threadIdx.x; i < n; i += DN_CTC_NAIVE_BLOCK) {
            double one = i >= 1 && t ? last[i - 1] : -DN_INF_D, two = t && may_skip(s, i) ? last[i - 2] : -DN_INF_D;
            double sum = t ? log_add(last[i], one, two) : i < 2 ? 0.0 : -DN_INF_D;
            now[i] = sum + log_y(p, s, t, class_of(s, i));
        }
        __syncthreads();
    }
    const double *end = s->log_a + ((dn_s64)s->steps - 1) * n;
    double log_p = log_add(end[n - 1], n > 1 ? end[n - 2] : -DN_INF_D, -DN_INF_D);
    __syncthreads();  /* the way back writes there */
    return log_p;
}

/* log b of step t; then what step t - 1 sees ahead of it. log_a of the step becomes what its states have of p. */
DN_FN void step_back(const dn_ctc_naive *p, const sample *s, int t, double log_p)
{
    int n = s->states;
    double *part = s->log_a + (dn_s64)t * n;
    for (int i = (int)threadIdx.x; i < n; i += DN_CTC_NAIVE_BLOCK) {
        double one = i + 1 < n ? s->ahead[i + 1] : -DN_INF_D, two = i + 2 < n && may_skip(s, i + 2) ? s->ahead[i + 2] : -DN_INF_D;
        s->log_b[i] = t + 1 < s->steps ? log_add(s->ahead[i], one, two) : i + 2 >= n ? 0.0 : -DN_INF_D;
        double v = part[i] + s->log_b[i];
        part[i] = v == -DN_INF_D && log_p == log_p ? 0.0 : fmax(exp(v - log_p), 2.2250738585072014e-308);
        if (v != v || log_p != log_p)
            part[i] = DN_NAN_D;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += DN_CTC_NAIVE_BLOCK)
        s->ahead[i] = s->log_b[i] + log_y(p, s, t, class_of(s, i));
    for (int k = (int)threadIdx.x; k < p->c.classes; k += DN_CTC_NAIVE_BLOCK)
        s->sum[k] = 0;
    __syncthreads();
}

/* sum by class: the blank's by all threads, a label's by the thread of its first place. */
DN_FN void sum_classes(const sample *s, int t, double *sh)
{
    const double *part = s->log_a + (dn_s64)t * s->states;
    double blank = 0;
    for (int i = (int)threadIdx.x; i < s->states; i += DN_CTC_NAIVE_BLOCK)
        blank += class_of(s, i) == 0 ? part[i] : 0.0;
    blank = block_sum(blank, sh);
    for (int j = (int)threadIdx.x; j < s->labels; j += DN_CTC_NAIVE_BLOCK) {
        bool first = s->label[j] != 0;
        for (int i = 0; i < j && first; i++)
            first = s->label[i] != s->label[j];
        double sum = 0;
        for (int i = j; i < s->labels && first; i++)
            sum += s->label[i] == s->label[j] ? part[2 * i + 1] : 0.0;
        if (first)
            s->sum[s->label[j]] = sum;
    }
    if (threadIdx.x == 0)
        s->sum[0] = blank;
    __syncthreads();
}

DN_FN void store_gradient(const dn_ctc_naive *p, const sample *s, int t, int k, double v)
{
    dn_store(&p->dx, t * p->dx_stride[0] + s->n * p->dx_stride[1] + k * p->dx_stride[2], v);
}

DN_FN void store_zeros(const dn_ctc_naive *p, const sample *s, int first)
{
    for (int t = first; t < p->c.steps; t++)
        for (int k = (int)threadIdx.x; k < p->c.classes; k += DN_CTC_NAIVE_BLOCK)
            store_gradient(p, s, t, k, 0);
}

DN_FN void backward(const dn_ctc_naive *p, const sample *s, double log_p, double *sh)
{
    for (int t = s->steps - 1; t >= 0; t--) {
        step_back(p, s, t, log_p);
        sum_classes(s, t, sh);
        for (int k = (int)threadIdx.x; k < p->c.classes; k += DN_CTC_NAIVE_BLOCK) {
            double y = exp(log_y(p, s, t, k)), sum = s->sum[k];
            store_gradient(p, s, t, k, p->c.norm ? y - sum : sum == 0 ? y : -sum / y);
        }
        __syncthreads();
    }
}

extern "C" __global__ void cuda_ctc_fwd_naive(const __grid_constant__ dn_ctc_naive p)
{
    __shared__ double sh[DN_CTC_NAIVE_BLOCK];
    sample s;
    s.log_a = p.work + blockIdx.x * p.block_doubles;
    s.log_b = s.log_a + p.c.steps * p.room;
    s.ahead = s.log_b + p.room;
    s.sum = s.ahead + p.room;
    s.top = s.sum + p.c.classes;
    s.rest = s.top + p.c.steps;
    for (s.n = (int)blockIdx.x; s.n < p.c.batch; s.n += (int)gridDim.x) {
        int state = look(&p, &s, sh);
        double log_p = state == BROKEN ? DN_NAN_D : 0.0;
        if (state == FINE && s.steps) {
            normalise(&p, &s);
            log_p = forward(&p, &s);
        }
        if (threadIdx.x == 0)
            dn_store(&p.costs, s.n, log_p == 0 ? 0.0 : -log_p);
        if (!p.c.gradients)
            continue;
        if (state == FINE)
            backward(&p, &s, log_p, sh);
        if (!p.c.skip)
            store_zeros(&p, &s, state == FINE ? s.steps : 0);
        __syncthreads();
    }
}

/* One block. */
extern "C" __global__ void cuda_ctc_put(const __grid_constant__ dn_ctc_put p)
{
    for (int i = (int)threadIdx.x; i < p.count; i += (int)blockDim.x)
        p.out[i] = p.wide ? (int)(p.value[2 * i] | (dn_u32)p.value[2 * i + 1] << 16) : p.value[i];
}
