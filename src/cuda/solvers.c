/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cuda engine's rows. */
#include "cuda/rows.h"

const dn_rows *const dn_cuda_tables[] = { &dn_cuda_act, NULL };
