/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Kernels by name. Each .cu file is one module with an image for each architecture; a module is loaded into a context when the first of
 * its kernels is asked for. */
#include "cuda/cuda.h"

#include "core/os.h"

#include <stdio.h>
#include <string.h>

static dn_lock lock = DN_LOCK_INIT;

int dn_cuda_max_sm(void)
{
    int max = 0;
    for (const dn_cuda_image *i = dn_cuda_images; i->module; i++)
        if (!i->is_ptx && i->sm > max)
            max = i->sm;
    return max;
}

/* Code for the very device, then the nearest older one of its generation, then text. */
int dn_cuda_suits(const dn_cuda_image *i, int sm)
{
    if (i->is_ptx)
        return i->sm <= sm ? 1 : 0;
    if (i->sm == sm)
        return i->exact ? 2000 : 1000;
    return !i->exact && i->sm / 10 == sm / 10 && i->sm < sm ? i->sm : 0;
}

/* Number of the best image of a module, -1 where none suits. */
static int image_for(const char *module, int sm)
{
    int best = -1, score = 0;
    for (int i = 0; dn_cuda_images[i].module; i++) {
        if (strcmp(dn_cuda_images[i].module, module) != 0)
            continue;
        int s = dn_cuda_suits(&dn_cuda_images[i], sm);
        if (s > score) {
            score = s;
            best = i;
        }
    }
    return best;
}

static dn_status load(const dn_cuda_device *d, const dn_cuda_image *image, dn_cu_mod *mod)
{
    char what[160];
    int rc = dn_cu_table->ModuleLoadData(mod, image->data);
    snprintf(what, sizeof what, "loading the kernels of %s for capability %d.%d", image->module, d->sm / 10, d->sm % 10);
    if (rc == DN_CU_INVALID_IMAGE || rc == DN_CU_UNSUPPORTED_PTX_VERSION) {
        int driver = 0;
        dn_cu_table->DriverGetVersion(&driver);
        return dn_fail(DN_ARCH_MISMATCH, "%s: the driver (CUDA %d.%d) is too old for code made by CUDA %d.%d", what, driver / 1000,
                       driver % 1000 / 10, image->toolkit / 1000, image->toolkit % 1000 / 10);
    }
    return dn_cu_check(rc, what);
}

/* The context is current. */
static dn_status find(dn_cuda_device *d, const char *module, const char *name, size_t shared, dn_cu_fn *f)
{
    int i = image_for(module, d->sm), regs;
    if (i < 0)
        return dn_fail(DN_NOT_SUPPORTED, "%s has no code for capability %d.%d", module, d->sm / 10, d->sm % 10);
    dn_status st = DN_SUCCESS;
    dn_lock_take(&lock);
    if (!d->modules[i])
        st = load(d, &dn_cuda_images[i], &d->modules[i]);
    dn_lock_give(&lock);
    if (st != DN_SUCCESS)
        return st;
    st = dn_cu_check(dn_cu_table->ModuleGetFunction(f, d->modules[i], name), name);
    /* Loading may be put off by the driver until the first launch, which must not happen inside a capture. */
    if (st == DN_SUCCESS && dn_cu_table->FuncLoad)
        st = dn_cu_check(dn_cu_table->FuncLoad(*f), name);
    if (st == DN_SUCCESS)
        st = dn_cu_check(dn_cu_table->FuncGetAttribute(&regs, DN_CU_FUNC_NUM_REGS, *f), name);
    if (st == DN_SUCCESS && shared > 48 * 1024)
        st = dn_cu_check(dn_cu_table->FuncSetAttribute(*f, DN_CU_FUNC_MAX_DYNAMIC_SHARED, (int)shared), name);
    return st;
}

dn_status dn_cuda_function(dn_handle *h, const char *module, const char *name, size_t shared, dn_cu_fn *f)
{
    int pushed, mode = DN_CU_CAPTURE_RELAXED;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    dn_cu_table->ThreadExchangeCaptureMode(&mode);
    st = find(dn_cuda_state_of(h)->device, module, name, shared, f);
    dn_cu_table->ThreadExchangeCaptureMode(&mode);
    dn_cuda_leave(pushed);
    return st;
}
