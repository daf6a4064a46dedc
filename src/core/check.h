/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * ANYDNN_CHECK: the run of a plan, with its outputs looked at afterwards. A tool for finding the first call that goes wrong. */
#ifndef DN_CORE_CHECK_H
#define DN_CORE_CHECK_H

#include "core/engine.h"

/* Runs plan. With `nan`, an output tensor that holds a NaN or infinity where no input did is logged at error level; with `ref`
 * the ref engine computes the same on copies of the operands, and the first call whose output differs by more than the bound
 * of docs/numerics.md is logged with its problem line, the element, both values. Answers the run's own status. */
dn_status dn_run_checked(dn_handle *h, const dn_plan *plan, const dn_args *a);

/* Roles that this problem writes, as a bit mask of dn_role. */
unsigned dn_problem_outputs(const dn_problem *p);

#endif
