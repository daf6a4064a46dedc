/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * NOT_INITIALIZED and INTERNAL_ERROR from cudnnCreate have many causes; what the child saw of the driver and what the loader printed tell them
 * apart. */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A context and a handle of cuDNN take some hundred MiB of device memory; the sum grows with the kernels that are loaded. */
enum { MEMORY_MIB = 512 };

static bool value_of(process *child, const char *word, char *out, size_t size)
{
    const char *line = process_wait_for(child, word);

    snprintf(out, size, "%.*s", line ? (int)strcspn(line + strlen(word), "\t\n") : 0, line ? line + strlen(word) : "");
    return line != NULL;
}

static void judge_driver_age(verify *v, int driver)
{
    if (!v->file.cuda || driver >= v->file.cuda * 1000)
        return;
    verify_finding(v, CLI_ERROR, "driver-too-old",
                   "A driver serves the CUDA major versions up to its own. cudnnCreate then answers NOT_INITIALIZED or INTERNAL_ERROR.",
                   "install a newer driver, or a cuDNN that was built for an older CUDA (anydnn facts cuda_drivers)",
                   "The driver is of CUDA %d.%d; this cuDNN was built for CUDA %d.", driver / 1000, driver % 1000 / 10, v->file.cuda);
}

/* The tool's own reading of a handle that could not be made, when neither driver nor memory explain it. */
static void judge_status(verify *v, const char *status, const char *text, bool has_device, bool no_memory)
{
    if (no_memory || strstr(text, "ALLOC"))
        verify_finding(v, CLI_ERROR, "no-memory", "Other processes hold the device's memory (nvidia-smi lists them); cudnnCreate answers "
                       "NOT_INITIALIZED, INTERNAL_ERROR or ALLOC_FAILED then.", "nvidia-smi", "There is not enough free device memory for a handle.");
    else if (strstr(text, "ARCH"))
        verify_finding(v, CLI_ERROR, "gpu-not-supported", "This build has no code for the device.", "anydnn check --gpu sm_NN",
                       "cudnnCreate answers %s (%s).", status, text);
    else
        verify_finding(v, has_device ? CLI_ERROR : CLI_NOTE, has_device ? "create-failed" : "no-device",
                       has_device ? "Driver, free memory and parts are as they should be." :
                                    "There is no driver or no device here, which a vendor's library needs for a handle.",
                       NULL, "cudnnCreate answers %s (%s).", status, text);
}

void verify_judge_create(verify *v, verify_level *level, process *child)
{
    char status[40], text[400], driver[40], memory[64], total[64], code[40];
    bool created = value_of(child, "created\t", status, sizeof status), has_driver = value_of(child, "driver\t", driver, sizeof driver),
         has_memory = value_of(child, "memory\t", memory, sizeof memory), no_context = value_of(child, "no-context\t", code, sizeof code);
    const char *line = process_wait_for(child, "created\t"), *tab = line ? strchr(line + 8, '\t') : NULL;
    double mib = has_memory ? strtod(memory, NULL) / 1048576 : 0;
    int errors = v->report.errors;

    if (process_wait_for(child, "no-driver\t"))
        verify_fact(v, level, "driver", "none");
    if (has_driver) {
        snprintf(text, sizeof text, "CUDA %d.%d", atoi(driver) / 1000, atoi(driver) % 1000 / 10);
        verify_fact(v, level, "driver", text);
    }
    if (has_memory && value_of(child, "memory-total\t", total, sizeof total)) {
        snprintf(text, sizeof text, "%.0f MiB free of %.0f", mib, strtod(total, NULL) / 1048576);
        verify_fact(v, level, "device memory", text);
    }
    if (!created)
        return;
    snprintf(text, sizeof text, "%.*s", tab ? (int)strcspn(tab + 1, "\n") : 0, tab ? tab + 1 : "");
    verify_fact(v, level, "cudnnCreate", *text ? text : status);
    if (atoi(status) == 0)
        return;
    if (has_driver)
        judge_driver_age(v, atoi(driver));
    if (v->report.errors == errors)
        judge_status(v, status, text, has_memory || no_context, (has_memory && mib < MEMORY_MIB) || (no_context && atoi(code) == 2)); /* CUDA_ERROR_OUT_OF_MEMORY */
}

/* The name in front of what the loader says of it: "libcuda.so: cannot open ..." in any text. */
static bool named_file(const char *text, const char *says, char *name, size_t size)
{
    const char *at = text ? strstr(text, says) : NULL, *start = at;

    while (start && start > text && !strchr(" \t\n'\"", start[-1]))
        start--;
    snprintf(name, size, "%.*s", at ? (int)(at - start) : 0, at ? start : "");
    return *name != 0;
}

/* Files of that name that the loader passes by because they are of another class. */
static void list_wrong_class(verify *v, cJSON *where, const char *name)
{
    char *path = cli_format("%s%s%s", v->place.lib ? v->place.lib : "", getenv("LD_LIBRARY_PATH") ? ":" : "",
                            getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : ""),
         *self = process_self(), why[200];
    const ld_settings set = { .root = "", .library_path = path, .cwd = "/" };
    ld_process *p = ld_process_start(&set, self, why, sizeof why);
    ld_result *r = p ? ld_process_open(p, name, NULL) : NULL;

    for (size_t i = 0; r && i < r->try_count; i++)
        if (r->tries[i].why_not && strstr(r->tries[i].why_not, "bit")) {
            char *line = cli_format("%s %s", r->tries[i].path, r->tries[i].why_not);
            cli_where(where, line ? line : r->tries[i].path);
            free(line);
        }
    ld_process_free(p);
    free(self);
    free(path);
}

static bool is_driver(const char *name)
{
    return strncmp(cli_base_name(name), "libcuda.so", 10) == 0;
}

/* Many parts miss the same file. */
static bool is_said(verify *v, const char *name)
{
    bool said = strcmp(v->said, name) == 0;

    snprintf(v->said, sizeof v->said, "%s", name);
    return said;
}

bool verify_judge_texts(verify *v, const char *text)
{
    char name[256];

    if (named_file(text, ": wrong ELF class", name, sizeof name)) {
        if (is_said(v, name))
            return true;
        cJSON *where = verify_finding(v, CLI_ERROR, "wrong-class", "The loader found only files of another class by that name. That is no fault of "
                                      "cuDNN: the search path leads to the libraries of 32-bit programs.", NULL,
                                      "%s is there only for programs of another class%s.", name, is_driver(name) ? " (it is the driver's library)" : "");
        list_wrong_class(v, where, name);
        return true;
    }
    if (!named_file(text, ": cannot open shared object file", name, sizeof name) || verify_is_library(name))
        return false;
    if (is_said(v, name))
        return true;
    if (is_driver(name))
        verify_finding(v, CLI_ERROR, "driver-missing",
                       strcmp(name, "libcuda.so") == 0 ?
                           "cuDNN 8 opens the driver's library by this name; packages of the driver bring libcuda.so.1 and leave the bare name "
                           "to a development package. The part of cuDNN that the message names is there." :
                           "It comes with the driver, not with CUDA or cuDNN.",
                       strcmp(name, "libcuda.so") == 0 ? "ln -s libcuda.so.1 libcuda.so    # in the folder of libcuda.so.1" : NULL,
                       "The missing file is %s, of the driver, and not a part of cuDNN.", name);
    else
        verify_finding(v, CLI_ERROR, "needed-missing", "A library that this cuDNN needs is on no search path.", NULL, "The missing file is %s.", name);
    return true;
}
