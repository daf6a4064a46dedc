/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "compare.h"

#include "limits.h"

#include <stdio.h>
#include <stdlib.h>

const char *bench_verdict_name(bench_verdict v)
{
    static const char *const names[BENCH_VERDICTS] = { "pass", "marginal", "fail", "unsupported", "differs" };
    return names[v];
}

static double stored(dn_dtype type, double v)
{
    double cell = 0;
    dn_store(type, &cell, 0, v);
    return dn_load(type, &cell, 0);
}

/* Coarsest float type that the call computes with: parameters of a f16 normalisation are f32, made from f16 data. */
static dn_dtype limit_type(const bench_slot *s)
{
    return dn_dtype_scalar((dn_dtype)s->t.type);
}

double bench_allowed(const bench_case *c, const bench_slot *s, const bench_truth *t, int slot, int64_t i, unsigned how)
{
    dn_dtype type = limit_type(s);
    double v = t->v[slot][i], part = t->top[slot];
    double bound = bench_limit(type, t->length);
    if ((how & BENCH_TF32) && type == DN_F32)
        bound = BENCH_LIMIT_TF32 * fmax(1, sqrt(t->length / 1000));
    if (!(how & BENCH_TRANSFORMED) && t->sum[slot] && isfinite(t->sum[slot][i]))
        part = t->sum[slot][i];
    if (!dn_dtype_is_float(type) && t->sums_exact)
        bound = 0;
    (void)c;
    return bound * fmax(part, fabs(v)) + bench_rounding(type, v);
}

/* Running figures of one output. */
typedef struct figures {
    double error2, value2, worst;
    int64_t worst_at;
    double got, want;
} figures;

/* A whole number: what is off beyond its rounding, as a part of the limit without it. */
static double integer_part(dn_dtype type, double truth, double got, double allowed)
{
    double low = stored(type, -1e300), high = stored(type, 1e300), held = fmin(fmax(truth, low), high);
    double excess = fabs(got - held) - 0.5;
    return excess <= 0 ? 0 : excess / fmax(allowed - 0.5, 1e-12);
}

/* Error of one element as a part of its limit. */
double bench_part(const bench_case *c, const bench_slot *s, const bench_truth *t, int slot, int64_t i, double got, unsigned how)
{
    dn_dtype type = limit_type(s);
    double want = stored(type, t->v[slot][i]);  /* saturated, or infinite where the type ends */
    /* A transform spreads what is not finite over its tile: there it must not vanish, and that is all. */
    if ((how & BENCH_TRANSFORMED) && c->fill == BENCH_EDGE && (!isfinite(got) || !isfinite(want)))
        return isfinite(got) ? INFINITY : 0;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (got == want)
        return 0;
    if (slot == BENCH_AUX(DN_AUX_INDICES) || (slot == DN_B && c->p.op == DN_OP_SBA) || (t->sums_exact && !(how & BENCH_TRANSFORMED) && dn_dtype_is_float(type)))
        return INFINITY;
    double allowed = bench_allowed(c, s, t, slot, i, how), error = fabs(got - t->v[slot][i]);
    if (!dn_dtype_is_float(type))
        return integer_part(type, t->v[slot][i], got, allowed);
    if (isinf(got) || isinf(want))  /* at the end of the type's range a rounding error decides */
        return fabs(stored(type, t->v[slot][i] - copysign(allowed, t->v[slot][i]))) == INFINITY ? 1 : INFINITY;
    return error / allowed;
}

static void compare_slot(const bench_case *c, const bench_slot *s, const bench_truth *t, int slot, const double *got, unsigned how,
                         figures *f)
{
    *f = (figures){ 0 };
    for (int64_t i = 0; i < s->count; i++) {
        double part = bench_part(c, s, t, slot, i, got[i], how), want = t->v[slot][i];
        if (part > f->worst) {
            f->worst = part;
            f->worst_at = i;
            f->got = got[i];
            f->want = want;
        }
        if (isfinite(want) && isfinite(got[i])) {
            f->error2 += (got[i] - want) * (got[i] - want);
            f->value2 += want * want;
        }
    }
}

/* Norm-wise: the whole error against the whole result, with room for one rounding of every element. Sums that cancel are judged
 * against the sums of |products| element by element alone. */
static double norm_of(const figures *f)
{
    return f->value2 > 0 ? sqrt(f->error2 / f->value2) : 0;
}

/* The mask cannot be known: every element is 0 or x / (1 - p), and about as many are kept as should be. */
static void compare_mask(const bench_case *c, const bench_data *d, const double *got, int slot, bench_result *r)
{
    const bench_slot *in = &d->s[c->p.dir == DN_DIR_FWD ? DN_X : DN_DY], *out = &d->s[slot];
    double kept = 0, seen = 0, scale = c->dropout < 1 ? 1 / (1 - c->dropout) : 0;
    for (int64_t i = 0; i < out->count; i++) {
        double want = in->v[i] * scale;
        bool zero = got[i] == 0;
        if (!zero && fabs(got[i] - want) > 2 * bench_rounding(limit_type(out), want) + bench_limit(DN_F32, 1) * fabs(want)) {
            r->verdict = BENCH_FAIL;
            snprintf(r->why, sizeof r->why, "element %lld is %.9g: neither 0 nor %.9g", (long long)i, got[i], want);
            return;
        }
        if (in->v[i] != 0) {
            seen++;
            kept += !zero;
        }
    }
    double sigma = sqrt(seen * c->dropout * (1 - c->dropout));
    if (fabs(kept - seen * (1 - c->dropout)) > 6 * sigma + 1e-9) {
        r->verdict = BENCH_FAIL;
        snprintf(r->why, sizeof r->why, "%.0f of %.0f elements were kept at p = %g", kept, seen, c->dropout);
    }
}

static void judge(bench_result *r, const figures *f, int slot)
{
    double norm = norm_of(f);
    r->norm = norm > r->norm ? norm : r->norm;
    if (f->worst <= r->part && r->verdict != BENCH_PASS)
        return;
    r->part = f->worst > r->part ? f->worst : r->part;
    if (f->worst > 1) {
        r->verdict = BENCH_FAIL;
        snprintf(r->why, sizeof r->why, "element %lld of %s is %.9g, the truth is %.9g: %.3g of the limit", (long long)f->worst_at,
                 bench_slot_name(slot), f->got, f->want, f->worst);
    } else if (f->worst > BENCH_MARGINAL && r->verdict == BENCH_PASS) {
        r->verdict = BENCH_MARGINAL_V;
        snprintf(r->why, sizeof r->why, "element %lld of %s: %.3g of the limit", (long long)f->worst_at, bench_slot_name(slot),
                 f->worst);
    }
}

void bench_compare(const bench_case *c, const bench_data *d, const bench_truth *t, const bench_memory *m, unsigned how,
                   bench_result *r)
{
    *r = (bench_result){ .verdict = BENCH_PASS };
    for (int k = 0; k < BENCH_SLOTS; k++) {
        if (!t->v[k] || bench_overlaps(&d->s[k].t))
            continue;
        double *got = malloc((size_t)d->s[k].count * sizeof *got);
        if (!got) {
            r->verdict = BENCH_FAIL;
            snprintf(r->why, sizeof r->why, "no memory to compare");
            return;
        }
        bench_memory_load(m, d, k, got);
        if (how & BENCH_OTHER_MASK) {
            compare_mask(c, d, got, k, r);
        } else {
            figures f;
            compare_slot(c, &d->s[k], t, k, got, how, &f);
            judge(r, &f, k);
        }
        free(got);
    }
}
