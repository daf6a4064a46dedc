/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss of f32 with the classes side by side, up to DN_CTC_LABELS_MAX labels and DN_CTC_CLASSES_MAX classes; letters as in ops/ctc.h.
 *
 * A block has one sample. All its warps first make y of the blank and of every label for all steps. Then two warps go over the steps, one
 * forwards (a) and one backwards (b y, which is a of the labels in reverse), until they meet in the middle; each keeps its values. Both go on
 * into the half that the other has left: there a step's a (before its factor y) times the other's b y is what each state has of p, which
 * takes the kept value's place. So the steps are walked once, not twice. At last all warps make the gradients.
 *
 * A lane has K neighbouring pairs of a blank and the label after it, so of its neighbour it needs one value alone. Values are a mantissa of
 * 1 to 2 (or 0, or NaN) and an exponent of their own: no logarithm in the loop, no underflow, and rounding errors of floats. */
#include "cuda/common.cuh"
#include "cuda/ctc/ctc.h"

enum { ZERO_E = -(1 << 28), THREADS = 32 * DN_CTC_WARPS };
#define ALL 0xffffffffu
#define LOG2E 1.4426950408889634f
#define LEAST 1.17549435e-38f

typedef struct wide {
    float m;  /* 0: nothing, with exponent ZERO_E */
    int e;
} wide;

typedef struct sample {
    int n, steps, labels, lanes;
    int *label, *next, *head;  /* next: the next place of the same label or -1; head: the first one of a class or -1 */
    float *top, *rest;         /* of the softmax of a step: maximum, log2 of the sum */
    float *y;                  /* steps x (labels + 1): the blank first; log2 y where a softmax is asked, else y */
    wide *kept;                /* steps x (2 K lanes) */
} sample;

/* --- numbers with an exponent of their own --- */

DN_FN float scale_of(int d)
{
    return __uint_as_float((dn_u32)(max(d, -127) + 127) << 23);  /* 2^d for d of -126 to 127; 0 below */
}

DN_FN wide wide_of(float m, int e)
{
    dn_u32 bits = __float_as_uint(m);
    bool plain = bits - 0x00800000u < 0x7f000000u;
    wide w;
    w.m = plain ? __uint_as_float((bits & 0x007fffffu) | 0x3f800000u) : m;
    w.e = plain ? e + (int)(bits >> 23) - 127 : ZERO_E;
    return w;
}

DN_FN wide wide_add(wide a, wide b)
{
    int e = max(a.e, b.e);
    return wide_of(a.m * scale_of(a.e - e) + b.m * scale_of(b.e - e), e);
}

DN_FN wide wide_product(wide a, wide b)
{
    return wide_of(a.m * b.m, a.e + b.e);
}

/* y as it is kept: its logarithm, or itself. */
DN_FN wide wide_of_y(int norm, float v)
{
    if (!norm)
        return v < 0 ? wide_of(__uint_as_float(0x7fc00000), 0) : v < LEAST ? wide_of(v * 0x1p64f, -64) : wide_of(v, 0);
    wide w;
    float whole = floorf(v);
    bool zero = v < -1e8f;
    w.m = zero ? 0.0f : exp2f(v - whole);
    w.e = zero ? ZERO_E : (int)whole;
    return w;
}

/* --- before --- */

DN_FN float warp_max(float v)
{
    for (int o = 16; o > 0; o /= 2)
        v = fmaxf(v, __shfl_xor_sync(ALL, v, o));
    return v;
}

DN_FN float warp_sum(float v)
{
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(ALL, v, o);
    return v;
}

enum { FINE, SHORT, BROKEN };

/* The labels to shared memory, their chains, and whether the sample can be worked on. Sums of whole numbers: any order gives one result. */
DN_FN int look(const dn_ctc_warps *p, sample *s, int *count)
{
    int t = (int)threadIdx.x, before = 0, bad = 0, need = 0;
    if (t < 4)
        count[t] = 0;
    __syncthreads();
    for (int m = t; m < s->n; m += THREADS) {
        bad |= p->c.label_lengths[m] > p->c.max_label;  /* where the labels after it lie is not known */
        before += max(p->c.label_lengths[m], 0);
    }
    if (before)
        atomicAdd(&count[0], before);
    if (bad)
        atomicAdd(&count[3], bad);
    bad = 0;
    s->steps = p->c.input_lengths[s->n];
    s->labels = p->c.label_lengths[s->n];
    __syncthreads();
    if (count[3] || s->steps < 0 || s->steps > p->c.steps || s->labels < 0 || s->labels > p->c.max_label)
        return BROKEN;
    const int *from = p->c.labels + count[0];
    for (int i = t; i < s->labels; i += THREADS) {
        if (i < p->room)
            s->label[i] = from[i];
        bad += from[i] < 0 || from[i] >= p->c.classes;
        need += 1 + (i && from[i] == from[i - 1]);
    }
    if (bad)
        atomicAdd(&count[1], bad);
    if (need)
        atomicAdd(&count[2], need);
    __syncthreads();
    return count[1] ? BROKEN : s->steps < count[2] ? SHORT : FINE;
}

DN_FN void chain(const dn_ctc_warps *p, const sample *s)
{
    for (int k = (int)threadIdx.x; k < p->c.classes; k += THREADS)
        s->head[k] = -1;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < s->labels; i += THREADS) {
        int j = i + 1, first = i;
        while (j < s->labels && s->label[j] != s->label[i])
            j++;
        while (first > 0 && s->label[first - 1] != s->label[i])
            first--;
        s->next[i] = j < s->labels ? j : -1;
        if (first == 0)
            s->head[s->label[i]] = i;
    }
}

/* A warp per step. */
DN_FN void make_y(const dn_ctc_warps *p, const sample *s)
{
    int lane = (int)threadIdx.x & 31;
    for (int t = (int)threadIdx.x / 32; t < s->steps; t += DN_CTC_WARPS) {
        const float *x = p->x + t * p->x_step + s->n * p->x_sample;
        float m = -DN_INF, sum = 0;
        for (int k = lane; k < p->c.classes && p->c.norm; k += 32)
            m = fmaxf(m, x[k]);
        m = warp_max(m);
        for (int k = lane; k < p->c.classes && p->c.norm; k += 32)
            sum += exp2f((x[k] - m) * LOG2E);
        sum = log2f(warp_sum(sum));
        if (lane == 0) {
            s->top[t] = m;
            s->rest[t] = sum;
        }
        for (int i = lane; i <= s->labels; i += 32) {
            float v = x[i ? s->label[i - 1] : 0];
            s->y[t * (s->labels + 1) + i] = p->c.norm ? (v - m) * LOG2E - sum : v;
        }
    }
}

/* --- the two walks --- */

/* Where kept has the blank before label j of the sample, or (kind 1) label j. */
template <int K> DN_FN int place_of(const sample *s, int t, int j, int kind)
{
    return (t * 2 * K + kind * K + (int)((dn_u32)j % K)) * s->lanes + (int)((dn_u32)j / K);
}

/* A lane's values: a of its K blanks and labels; back: of the labels in reverse. */
template <int K> struct walk {
    wide blank[K], label[K];
    dn_u32 skip;        /* bit i: label i may follow the one before directly */
    bool back;
};

/* Where the lane's blank i (kind 0) or label i (kind 1) stands in the sample; negative: nowhere. */
template <int K> DN_FN int index_of(const sample *s, const walk<K> *w, int i, int kind)
{
    int j = ((int)threadIdx.x & 31) * K + i, n = s->labels - kind;
    return j > n ? -1 : w->back ? n - j : j;
}

template <int K> DN_FN void walk_start(const sample *s, walk<K> *w, bool back)
{
    int lane = (int)threadIdx.x & 31;
    w->back = back;
    w->skip = 0;
#pragma unroll
    for (int i = 0; i < K; i++) {
        int j = lane * K + i, at = index_of<K>(s, w, i, 1);
        if (at >= 0 && j > 0 && s->label[at] != s->label[back ? at + 1 : at - 1])
            w->skip |= 1u << i;
        w->blank[i].m = j == 0 ? 1.0f : 0.0f;  /* the step before the first: its sums are 1 for the first blank and label */
        w->blank[i].e = j == 0 ? 0 : ZERO_E;
        w->label[i].m = 0;
        w->label[i].e = ZERO_E;
    }
}

/* y of step t for the blank (K) and the lane's labels. */
template <int K> DN_FN void load_y(const dn_ctc_warps *p, const sample *s, const walk<K> *w, int t, wide *y)
{
    const float *row = s->y + (dn_s64)t * (s->labels + 1);
    y[K] = wide_of_y(p->c.norm, row[0]);
#pragma unroll
    for (int i = 0; i < K; i++) {
        y[i].m = 0;
        y[i].e = ZERO_E;
        int at = index_of<K>(s, w, i, 1);
        if (at >= 0)
            y[i] = wide_of_y(p->c.norm, row[1 + at]);
    }
}

/* The sums of the next step, before their factors y. */
template <int K> DN_FN void walk_sums(const walk<K> *w, wide *blank, wide *label)
{
    wide last;
    last.m = __shfl_sync(ALL, w->label[K - 1].m, ((int)threadIdx.x - 1) & 31);
    last.e = __shfl_sync(ALL, w->label[K - 1].e, ((int)threadIdx.x - 1) & 31);
    if ((threadIdx.x & 31) == 0) {
        last.m = 0;
        last.e = ZERO_E;
    }
#pragma unroll
    for (int i = 0; i < K; i++) {
        wide before = i ? w->label[i - 1] : last;
        blank[i] = wide_add(w->blank[i], before);
        before.m = w->skip >> i & 1 ? before.m : 0.0f;
        before.e = w->skip >> i & 1 ? before.e : ZERO_E;
        int e = max(max(w->label[i].e, w->blank[i].e), before.e);
        label[i] = wide_of(w->label[i].m * scale_of(w->label[i].e - e) + w->blank[i].m * scale_of(w->blank[i].e - e)
                               + before.m * scale_of(before.e - e), e);
    }
}

/* Sum over the warp, the same in all lanes. */
DN_FN wide warp_wide_sum(wide v)
{
    for (int o = 16; o > 0; o /= 2) {
        wide other;
        other.m = __shfl_xor_sync(ALL, v.m, o);
        other.e = __shfl_xor_sync(ALL, v.e, o);
        v = wide_add(v, other);
    }
    return v;
}

/* What a state has of p; never 0 where a path goes through. */
DN_FN float part_of(wide v, wide p)
{
    float q = v.m / p.m * scale_of(min(v.e - p.e, 100));
    return v.m > 0 && q < LEAST ? LEAST : v.m == 0 && p.m == p.m ? 0.0f : q;
}

/* Step t of the second half: the kept values of the other walk become parts of p. */
template <int K> DN_FN void meet(const sample *s, const walk<K> *w, int t, wide *blank, wide *label, wide *p, bool first)
{
    wide sum = { 0, ZERO_E };
#pragma unroll
    for (int i = 0; i < 2 * K; i++) {
        int j = index_of<K>(s, w, i % K, i / K);
        wide *v = i < K ? &blank[i] : &label[i - K];
        if (j < 0)
            continue;
        *v = wide_product(*v, s->kept[place_of<K>(s, t, j, i / K)]);
        if (first)
            sum = wide_add(sum, *v);
    }
    if (first)
        *p = warp_wide_sum(sum);
#pragma unroll
    for (int i = 0; i < 2 * K; i++) {
        int j = index_of<K>(s, w, i % K, i / K);
        if (j >= 0)
            s->kept[place_of<K>(s, t, j, i / K)].m = part_of(i < K ? blank[i] : label[i - K], *p);
    }
}

template <int K> DN_FN void keep(const sample *s, const walk<K> *w, int t)
{
#pragma unroll
    for (int i = 0; i < 2 * K; i++) {
        int j = index_of<K>(s, w, i % K, i / K);
        if (j >= 0)
            s->kept[place_of<K>(s, t, j, i / K)] = i < K ? w->blank[i] : w->label[i - K];
    }
}

/* One step from t: the next one's y is on its way meanwhile. */
template <int K> DN_FN void walk_step(const dn_ctc_warps *p, const sample *s, walk<K> *w, int t, wide *y, bool meeting, bool first, wide *total)
{
    wide blank[K], label[K], next[K + 1];
    int ahead = w->back ? t - 1 : t + 1;
    walk_sums<K>(w, blank, label);
    load_y<K>(p, s, w, min(max(ahead, 0), s->steps - 1), next);
#pragma unroll
    for (int i = 0; i < K; i++) {
        w->blank[i] = wide_product(blank[i], y[K]);
        w->label[i] = wide_product(label[i], y[i]);
    }
    if (meeting)
        meet<K>(s, w, t, blank, label, total, first);
    else
        keep<K>(s, w, t);
#pragma unroll
    for (int i = 0; i <= K; i++)
        y[i] = next[i];
}

DN_FN void store_cost(const dn_ctc_warps *p, const sample *s, wide total)
{
    double cost = total.m == 0 ? DN_INF_D : -(log((double)total.m) + total.e * 0.69314718055994531);
    if (threadIdx.x == 0)
        p->costs[s->n] = (float)cost;
}

/* Warp 0 forwards, warp 1 backwards; the others wait. */
template <int K> DN_FN void walks(const dn_ctc_warps *p, const sample *s)
{
    int warp = (int)threadIdx.x / 32, middle = s->steps / 2, t = warp ? s->steps - 1 : 0;
    walk<K> w;
    wide y[K + 1], total = { 0, ZERO_E };
    if (warp < 2) {
        walk_start<K>(s, &w, warp == 1);
        load_y<K>(p, s, &w, t, y);
        for (; warp ? t >= middle : t < middle; t += warp ? -1 : 1)
            walk_step<K>(p, s, &w, t, y, false, false, &total);
    }
    __syncthreads();
    if (warp < 2) {
        for (; warp ? t >= 0 : t < s->steps; t += warp ? -1 : 1)
            walk_step<K>(p, s, &w, t, y, true, t == (warp ? middle - 1 : middle), &total);
        if (warp == 0)
            store_cost(p, s, total);
    }
    __syncthreads();
}

/* --- after --- */

DN_FN void store_zeros(const dn_ctc_warps *p, const sample *s, int first)
{
    for (int t = first + (int)threadIdx.x / 32; t < p->c.steps; t += DN_CTC_WARPS)
        for (int k = (int)threadIdx.x & 31; k < p->c.classes; k += 32)
            p->dx[t * p->dx_step + s->n * p->dx_sample + k] = 0;
}

/* A warp per step. Label 0 is the blank, so its chain belongs to class 0. */
template <int K> DN_FN void make_gradients(const dn_ctc_warps *p, const sample *s)
{
    int lane = (int)threadIdx.x & 31;
    for (int t = (int)threadIdx.x / 32; t < s->steps; t += DN_CTC_WARPS) {
        const float *x = p->x + t * p->x_step + s->n * p->x_sample;
        float *dx = p->dx + t * p->dx_step + s->n * p->dx_sample, blank = 0;
        for (int j = lane; j <= s->labels; j += 32)
            blank += s->kept[place_of<K>(s, t, j, 0)].m;
        blank = warp_sum(blank);
        for (int k = lane; k < p->c.classes; k += 32) {
            float sum = k ? 0.0f : blank, y = p->c.norm ? exp2f((x[k] - s->top[t]) * LOG2E - s->rest[t]) : x[k];
            for (int j = s->head[k]; j >= 0; j = s->next[j])
                sum += s->kept[place_of<K>(s, t, j, 1)].m;
            dx[k] = p->c.norm ? y - sum : sum == 0 ? y : -sum / y;
        }
    }
}

template <int K> DN_FN void work(const dn_ctc_warps *p, sample *s)
{
    s->lanes = (s->labels + K) / K;
    s->kept = (wide *)(s->y + (((dn_s64)s->steps * (s->labels + 1) + 1) & ~1ll));
    make_y(p, s);
    __syncthreads();
    walks<K>(p, s);
    if (p->c.gradients)
        make_gradients<K>(p, s);
}

extern "C" __global__ void __launch_bounds__(THREADS) cuda_ctc_fwd_warps_f32(const __grid_constant__ dn_ctc_warps p)
{
#if defined(DN_EMULATED)
    float *memory = (float *)emu_shared;
#else
    extern __shared__ uint4 shared[];
    float *memory = (float *)shared;
#endif
    __shared__ int count[4];
    sample s;
    s.n = (int)blockIdx.x;
    s.label = (int *)memory;
    s.next = s.label + p.room;
    s.head = s.next + p.room;
    s.top = (float *)(s.head + p.c.classes);
    s.rest = s.top + p.c.steps;
    s.y = p.work ? p.work + s.n * p.sample_floats : (float *)(((dn_u64)(s.rest + p.c.steps) + 7) & ~7ull);
    int state = look(&p, &s, count);
    if (state == FINE && s.steps) {
        chain(&p, &s);
        if (s.labels < 32)
            work<1>(&p, &s);
        else if (s.labels < 64)
            work<2>(&p, &s);
        else if (s.labels < 128)
            work<4>(&p, &s);
        else
            work<8>(&p, &s);
    } else if (threadIdx.x == 0) {
        p.costs[s.n] = state == BROKEN ? __uint_as_float(0x7fc00000) : 0.0f;
    }
    if (p.c.gradients && !p.c.skip)
        store_zeros(&p, &s, state == FINE ? s.steps : 0);
}
