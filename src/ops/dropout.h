/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What dropout keeps between calls, the same on every engine. */
#ifndef DN_OPS_DROPOUT_H
#define DN_OPS_DROPOUT_H

#include "ops/problem.h"

/* The states buffer, in the handle's memory. core/philox.h says what seed and call do; a forward call adds 1 to call. All of the
 * generator's state is here, so a copy of the buffer is a checkpoint (cudnnRestoreDropoutDescriptor). */
typedef struct dn_dropout_state {
    uint64_t seed, call;
    uint64_t unused[6];  /* room to grow without a new size */
} dn_dropout_state;

/* Bytes of the mask: bit e % 8 of byte e / 8 is 1 where element e (logical order) was kept; padded to 16 bytes.
 * False where t has more elements than int64 counts. */
bool dn_dropout_reserve_size(const dn_tensor *t, size_t *bytes);

#endif
