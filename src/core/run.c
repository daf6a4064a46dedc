/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The hot path. */
#include "core/engine.h"

#include "core/check.h"
#include "core/log.h"

static dn_status small_workspace(const dn_plan *plan, const dn_args *a)
{
    if (a->workspace_size >= plan->workspace)
        return dn_fail(DN_BAD_PARAM, "workSpace is NULL; %s needs %zu bytes", plan->solver->name, plan->workspace);
    return dn_fail(DN_BAD_PARAM, "workSpaceSizeInBytes is %zu; %s needs %zu", a->workspace_size, plan->solver->name,
                   plan->workspace);
}

dn_status dn_run(dn_handle *h, const dn_problem *p, const dn_args *a)
{
    dn_plan *plan = h->last;
    if (!plan || !dn_problem_equal(&plan->problem, p)) {
        dn_status st = dn_plan_get(h, p, &plan);
        if (st != DN_SUCCESS)
            return st;
    }
    if (plan->workspace && (a->workspace_size < plan->workspace || !a->workspace))
        return small_workspace(plan, a);
    if (h->engine->admit) {
        dn_status st = h->engine->admit(h, plan, a);
        if (st != DN_SUCCESS)
            return st;
    }
    dn_status st = dn_config_get()->check ? dn_run_checked(h, plan, a) : plan->solver->run(h, plan, a);
    if (st == DN_SUCCESS)
        h->last_solver = plan->solver;
    if (dn_log_on(DN_LOG_INFO))
        dn_log(DN_LOG_INFO, DN_TOPIC_EXEC, "ran %s: %s", plan->solver->name, dn_status_name(st));
    return st;
}
