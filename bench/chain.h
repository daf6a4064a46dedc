/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Calls that come before the one at hand: what gradients of recurrent networks and attention read in the reserve space, the same library's own earlier
 * calls wrote there. Each has a case and data of its own, made from the same seed, so that it sees the same values. */
#ifndef DN_BENCH_CHAIN_H
#define DN_BENCH_CHAIN_H

#include "target.h"

struct bench_prior {
    bench_case c;
    bench_data d;  /* whose own prior comes before it */
};

/* Sets d->own_reserve and reserve_size, and d->prior with its data. True where the operation has no such space. */
bool bench_chain_make(bench_data *d, const bench_case *c);
void bench_chain_free(bench_data *d);
/* Bytes of the reserve space that our rows want for p; 0 where they cannot be counted. */
size_t bench_chain_bytes(const dn_problem *p);
/* After the target was prepared: the run's reserve space, filled by the earlier calls. place: of the block. */
dn_status bench_chain_run(bench_target *t, const bench_data *d, bench_memory *m, bench_place place);

#endif
