/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss on the host, in double and logarithms (ops/ctc.h): a forward pass over the steps of a sample keeps log a, a backward one makes
 * log b of one step at a time and the gradients of that step. Samples are shared out; one is one thread's, so the bits depend on no
 * thread count. */
#include "ops/ctc.h"
#include "ref/ref.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SLOTS_MAX 32  /* samples at work at the same time: the workspace has room for so many */

typedef struct job {
    const dn_problem *p;
    const dn_args *a;
    const dn_tensor *x, *dx;
    const int32_t *labels, *label_lengths, *input_lengths;
    int64_t steps, batch, classes, states;  /* states: room for so many of a sample */
    int64_t slots;
    double *work;
} job;

/* One sample at work. */
typedef struct sample {
    const job *j;
    const int32_t *label;
    int64_t n, steps, labels, states;
    bool lost;              /* a length before it is longer than allowed, so where its labels lie is not known */
    double *log_a;          /* steps x states */
    double *log_b, *ahead;  /* states: of this step; log y + log b of the next one */
    double *log_y, *sum;    /* classes */
} sample;

static int64_t state_room(const dn_problem *p)
{
    int64_t most = p->t[DN_X].dims[0] < p->u.ctc.max_label ? p->t[DN_X].dims[0] : p->u.ctc.max_label;
    return 2 * most + 1;  /* a sample with more labels than steps is short, and needs none */
}

static int64_t slot_count(const dn_problem *p)
{
    return p->t[DN_X].dims[1] < SLOTS_MAX ? p->t[DN_X].dims[1] : SLOTS_MAX;
}

static int64_t slot_doubles(const dn_problem *p)
{
    return (p->t[DN_X].dims[0] + 2) * state_room(p) + 2 * p->t[DN_X].dims[2];
}

static size_t workspace(const dn_problem *p)
{
    return (size_t)(slot_count(p) * slot_doubles(p)) * sizeof(double);
}

/* log(e^a + e^b + e^c); -infinity stands for 0. */
static double log_add(double a, double b, double c)
{
    double m = fmax(a, fmax(b, c));
    if (m == -INFINITY)
        return a + b + c;  /* or NaN */
    return m + log(exp(a - m) + exp(b - m) + exp(c - m));
}

/* --- one sample --- */

static int64_t class_of(const sample *s, int64_t state)
{
    return state % 2 ? s->label[state / 2] : 0;
}

/* Whether a path may step from state - 2 to state. */
static bool may_skip(const sample *s, int64_t state)
{
    return state % 2 && state >= 3 && s->label[state / 2] != s->label[state / 2 - 1];
}

/* log y of one step, all classes. */
static void load_logs(const sample *s, int64_t t)
{
    const job *j = s->j;
    double *v = s->log_y, m = -INFINITY, sum = 0;
    int64_t c = j->classes;
    dn_load_row((dn_dtype)j->x->type, j->a->ptr[DN_X], t * j->x->strides[0] + s->n * j->x->strides[1], j->x->strides[2], c, v);
    if (!j->p->u.ctc.norm) {
        for (int64_t k = 0; k < c; k++)
            v[k] = log(v[k]);
        return;
    }
    for (int64_t k = 0; k < c; k++)
        m = fmax(m, v[k]);
    for (int64_t k = 0; k < c; k++)
        sum += exp(v[k] - m);
    sum = log(sum);
    for (int64_t k = 0; k < c; k++)
        v[k] = v[k] - m - sum;
}

/* All log a; answers log p. */
static double forward(const sample *s)
{
    int64_t n = s->states;
    for (int64_t t = 0; t < s->steps; t++) {
        double *now = s->log_a + t * n;
        const double *last = now - n;
        load_logs(s, t);
        for (int64_t i = 0; i < n; i++) {
            double one = i >= 1 && t ? last[i - 1] : -INFINITY, two = t && may_skip(s, i) ? last[i - 2] : -INFINITY;
            double sum = t ? log_add(last[i], one, two) : i < 2 ? 0 : -INFINITY;
            now[i] = sum + s->log_y[class_of(s, i)];
        }
    }
    const double *end = s->log_a + s->steps * n - n;
    return log_add(end[n - 1], n > 1 ? end[n - 2] : -INFINITY, -INFINITY);
}

/* log b of step t, of which log y is there, from what step t + 1 left ahead; then that for step t - 1. */
static void step_back(const sample *s, int64_t t)
{
    int64_t n = s->states;
    for (int64_t i = 0; i < n; i++) {
        double one = i + 1 < n ? s->ahead[i + 1] : -INFINITY, two = i + 2 < n && may_skip(s, i + 2) ? s->ahead[i + 2] : -INFINITY;
        s->log_b[i] = t + 1 < s->steps ? log_add(s->ahead[i], one, two) : i + 2 >= n ? 0 : -INFINITY;
    }
    for (int64_t i = 0; i < n; i++)
        s->ahead[i] = s->log_b[i] + s->log_y[class_of(s, i)];
}

static void store_row(const sample *s, int64_t t, const double *v)
{
    const dn_tensor *dx = s->j->dx;
    dn_store_row((dn_dtype)dx->type, s->j->a->ptr[DN_DX], t * dx->strides[0] + s->n * dx->strides[1], dx->strides[2], s->j->classes, v, 1, 0);
}

static void store_zeros(const sample *s, int64_t first)
{
    memset(s->sum, 0, (size_t)s->j->classes * sizeof *s->sum);
    for (int64_t t = first; t < s->j->steps; t++)
        store_row(s, t, s->sum);
}

/* What a state has of p: never 0 where a path goes through. */
static double part_of(double log_ab, double log_p)
{
    return log_ab == -INFINITY && !isnan(log_p) ? 0 : isnan(log_ab - log_p) ? NAN : fmax(exp(log_ab - log_p), DBL_MIN);
}

static void backward(const sample *s, double log_p)
{
    for (int64_t t = s->steps - 1; t >= 0; t--) {
        const double *log_a = s->log_a + t * s->states;
        load_logs(s, t);
        step_back(s, t);
        memset(s->sum, 0, (size_t)s->j->classes * sizeof *s->sum);
        for (int64_t i = 0; i < s->states; i++)
            s->sum[class_of(s, i)] += part_of(log_a[i] + s->log_b[i], log_p);
        for (int64_t k = 0; k < s->j->classes; k++) {
            double y = exp(s->log_y[k]), sum = s->sum[k];
            s->sum[k] = s->j->p->u.ctc.norm ? y - sum : sum == 0 ? y : -sum / y;
        }
        store_row(s, t, s->sum);
    }
}

/* Labels and lengths that the arrays may not hold: there is no answer, and nothing outside of the tensors may be read. */
static bool is_broken(const sample *s)
{
    if (s->lost || s->steps < 0 || s->steps > s->j->steps || s->labels < 0 || s->labels > s->j->p->u.ctc.max_label)
        return true;
    for (int64_t i = 0; i < s->labels; i++)
        if (s->label[i] < 0 || s->label[i] >= s->j->classes)
            return true;
    return false;
}

static bool is_short(const sample *s)
{
    int64_t need = s->labels;
    for (int64_t i = 1; i < s->labels; i++)
        need += s->label[i] == s->label[i - 1];
    return s->steps < need;
}

static void run_sample(sample *s)
{
    const job *j = s->j;
    bool broken = is_broken(s), fine = !broken && !is_short(s);
    double log_p = broken ? NAN : 0;
    s->states = 2 * s->labels + 1;
    if (fine && s->steps)
        log_p = forward(s);
    dn_store((dn_dtype)j->x->type, j->a->aux[DN_AUX_COSTS], s->n, log_p == 0 ? 0 : -log_p);
    if (!j->dx->rank)
        return;
    if (fine)
        backward(s, log_p);
    if (!j->p->u.ctc.skip)
        store_zeros(s, fine ? s->steps : 0);
}

static void run_slots(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    for (int64_t slot = begin; slot < end; slot++) {
        sample s = { .j = j, .label = j->labels, .log_a = j->work + slot * slot_doubles(j->p) };
        s.log_b = s.log_a + j->steps * j->states;
        s.ahead = s.log_b + j->states;
        s.log_y = s.ahead + j->states;
        s.sum = s.log_y + j->classes;
        for (s.n = 0; s.n < j->batch; s.n++) {
            s.steps = j->input_lengths[s.n];
            s.labels = j->label_lengths[s.n];
            if (s.n % j->slots == slot)
                run_sample(&s);
            s.lost = s.lost || s.labels > j->p->u.ctc.max_label;
            s.label += s.labels > 0 && !s.lost ? s.labels : 0;
        }
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *x = &p->t[DN_X];
    job j = { .p = p, .a = a, .x = x, .dx = &p->t[DN_DX], .labels = dn_ctc_labels(p, a), .label_lengths = dn_ctc_label_lengths(p, a),
              .input_lengths = dn_ctc_input_lengths(p, a), .steps = x->dims[0], .batch = x->dims[1], .classes = x->dims[2],
              .states = state_room(p), .slots = slot_count(p), .work = a->workspace };
    (void)h;
    dn_parallel(j.slots, 1, run_slots, &j);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *dx = &p->t[DN_DX];
    int64_t most = ((int64_t)1 << 40) / (slot_count(p) * (x->dims[0] + 2));
    if (x->type != DN_F32 && x->type != DN_F64 && x->type != DN_F16 && x->type != DN_BF16)
        return "needs type f32, f64, f16 or bf16";
    if (dx->rank && dx->type != x->type)
        return "needs one type for all tensors";
    return state_room(p) <= most ? NULL : "needs less than 2^43 bytes of workspace";
}

static const dn_solver rows[] = {
    { .name = "ref_ctc_fwd", .op = DN_OP_CTC, .dir = DN_DIR_FWD, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = check, .workspace = workspace,
      .run = run },
};

const dn_rows dn_ref_ctc = { rows, sizeof(rows) / sizeof(rows[0]) };
