/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "chain.h"

#include "ops/attn.h"
#include "ops/rnn.h"

#include <stdlib.h>
#include <string.h>

/* The problem of the call before this one, which wrote what this one reads; false where there is none. */
static bool before_rnn(const bench_case *c, dn_problem *p)
{
    if (c->p.dir == DN_DIR_BWD_DATA) {
        p->dir = DN_DIR_TRAIN;
        p->t[DN_X] = c->p.t[DN_DX];
        memset(&p->t[DN_DX], 0, sizeof p->t[DN_DX]);
        memset(&p->t[DN_DY], 0, sizeof p->t[DN_DY]);
    } else if (c->p.dir == DN_DIR_BWD_FILTER) {
        p->dir = DN_DIR_BWD_DATA;
        p->t[DN_DX] = c->p.t[DN_X];
        p->t[DN_DY] = c->p.t[DN_Y];
        memset(&p->t[DN_X], 0, sizeof p->t[DN_X]);
    } else {
        return false;
    }
    return true;
}

/* The same for attention, whose gradients want all inputs. */
static bool before_attn(const bench_case *c, dn_problem *p)
{
    if (c->p.dir == DN_DIR_BWD_DATA) {
        p->dir = DN_DIR_TRAIN;
        p->t[DN_Y] = c->p.t[DN_DY];
        memset(&p->t[DN_DX], 0, sizeof p->t[DN_DX]);
        memset(&p->t[DN_DY], 0, sizeof p->t[DN_DY]);
    } else if (c->p.dir == DN_DIR_BWD_FILTER) {
        p->dir = DN_DIR_BWD_DATA;
        p->t[DN_DX] = c->p.t[DN_X];
    } else {
        return false;
    }
    return true;
}

static bool before(const bench_case *c, bench_case *prior)
{
    dn_problem *p = &prior->p;
    *prior = *c;
    prior->alpha = 1, prior->beta = 0;
    p->flags = DN_F_BETA_ZERO;
    p->algo = -1;
    bool any = c->p.op == DN_OP_ATTN ? before_attn(c, p) : before_rnn(c, p);
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        p->align[r] = p->t[r].rank ? 16 : 0;
    return any;
}

size_t bench_chain_bytes(const dn_problem *p)
{
    dn_rnn_reserve r;
    dn_attn_reserve a;
    if (p->op == DN_OP_ATTN)
        return dn_attn_reserve_layout(p, &a) ? a.bytes : 0;
    return dn_rnn_reserve_layout(p, &r) ? r.bytes : 0;
}

bool bench_chain_make(bench_data *d, const bench_case *c)
{
    bench_case prior;
    if ((c->p.op != DN_OP_RNN && c->p.op != DN_OP_ATTN) || c->p.dir == DN_DIR_INFER)
        return true;
    d->reserve_size = bench_chain_bytes(&c->p);
    if (!d->reserve_size) {
        dn_fail(DN_NOT_SUPPORTED, "the reserve space has more bytes than an address counts");
        return false;
    }
    d->own_reserve = true;
    if (!before(c, &prior))
        return true;
    d->prior = calloc(1, sizeof *d->prior);
    if (!d->prior) {
        dn_fail(DN_ALLOC_FAILED, "no memory for the call before");
        return false;
    }
    d->prior->c = prior;
    bench_case_update(&d->prior->c);
    return bench_data_make(&d->prior->d, &d->prior->c);
}

void bench_chain_free(bench_data *d)
{
    if (d->prior)
        bench_data_free(&d->prior->d);
    free(d->prior);
    d->prior = NULL;
}

/* The earlier calls, oldest first, on memory of their own but for the reserve space. */
static dn_status run_priors(bench_target *t, const bench_prior *prior, const bench_block *reserve)
{
    bench_target own;
    bench_memory m;
    size_t workspace = 0;
    if (!prior)
        return DN_SUCCESS;
    dn_status st = run_priors(t, prior->d.prior, reserve);
    if (st != DN_SUCCESS)
        return st;
    if (!bench_source_default((bench_source *)(uintptr_t)t->source, &prior->c, &own))
        return dn_fail(DN_NOT_SUPPORTED, "nothing takes the call before: %s", prior->c.text);
    if (!bench_memory_make(&m, &prior->c, &prior->d, t->space, BENCH_AT_START))
        return DN_ALLOC_FAILED;
    t->how |= own.how & BENCH_TF32;  /* what it left in the reserve space is no sharper */
    st = own.prepare(&own, &prior->c, &prior->d, &workspace);
    bool prepared = st == DN_SUCCESS;
    if (prepared && workspace && !bench_memory_extra(&m, &m.workspace, workspace, NULL, BENCH_AT_START))
        st = DN_ALLOC_FAILED;
    m.reserve.pointer = reserve->pointer;
    m.reserve.bytes = reserve->bytes;
    if (st == DN_SUCCESS)
        st = own.run(&own, &m);
    if (st == DN_SUCCESS && t->space && t->space->synchronize() != 0)
        st = dn_fail(DN_EXECUTION_FAILED, "the device reported a failure");
    if (prepared)
        own.finish(&own);
    memset(&m.reserve, 0, sizeof m.reserve);
    bench_memory_free(&m);
    return st;
}

dn_status bench_chain_run(bench_target *t, const bench_data *d, bench_memory *m, bench_place place)
{
    size_t size = t->reserve_size ? t->reserve_size : d->reserve_size;
    if (!d->own_reserve)
        return DN_SUCCESS;
    if (!m->reserve.pointer && !bench_memory_extra(m, &m->reserve, size, NULL, place))
        return DN_ALLOC_FAILED;
    if (m->reserve.bytes < size)
        return dn_fail(DN_ALLOC_FAILED, "the reserve space was made for a library that wants less than %zu bytes", size);
    return run_priors(t, d->prior, &m->reserve);
}
