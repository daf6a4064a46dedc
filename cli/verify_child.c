/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The program that level 1 of `verify` starts: this tool again, `anydnn verify --child LIBRARY PART...`. It opens the library, lets the library open
 * its parts, opens the rest by name, and waits between the steps so that its map can be read. A library can end it at any point: each step is
 * announced first. One line for each thing, cells separated by tabs. */
#include "verify.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each makes libcudnn open the part that it belongs to. */
static const char *const checks[] = {
    "cudnnOpsInferVersionCheck", "cudnnOpsTrainVersionCheck", "cudnnCnnInferVersionCheck", "cudnnCnnTrainVersionCheck",
    "cudnnAdvInferVersionCheck", "cudnnAdvTrainVersionCheck", "cudnnGraphVersionCheck",    "cudnnOpsVersionCheck",
    "cudnnCnnVersionCheck",      "cudnnAdvVersionCheck",
};

/* A function pointer from dlsym's object pointer, which ISO C has no cast for. */
#define GET(pointer, library, name)                    \
    do {                                               \
        void *found_ = dlsym(library, name);           \
        memcpy(&(pointer), &found_, sizeof(pointer));  \
    } while (0)

static void say(const char *word, const char *a, const char *b)
{
    printf("%s\t%s\t%s\n", word, a ? a : "", b ? b : "");
    fflush(stdout);
}

static void wait_for_parent(const char *step)
{
    char line[64];

    say("ready", step, NULL);
    if (!fgets(line, sizeof line, stdin))
        exit(0);
}

static void number(const char *word, long value)
{
    char text[32];

    snprintf(text, sizeof text, "%ld", value);
    say(word, text, NULL);
}

static void open_parts(void *library, int count, char **parts)
{
    int (*check)(void);

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        char text[32];
        GET(check, library, checks[i]);
        if (!check)
            continue;
        say("try", checks[i], NULL);
        snprintf(text, sizeof text, "%d", check());
        say("checked", checks[i], text);
    }
    for (int i = 0; i < count; i++) {
        say("try", parts[i], NULL);
        if (dlopen(parts[i], RTLD_NOW))
            say("opened", parts[i], NULL);
        else
            say("failed", parts[i], dlerror());
    }
}

/* The driver's own answers; the library's handle is made in the context that is current then, as in a program. */
static void ask_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    int (*init)(unsigned), (*version)(int *), (*count)(int *), (*retain)(void **, int), (*set)(void *), (*memory)(size_t *, size_t *);
    int n = 0, code;
    void *context = NULL;
    size_t free_bytes = 0, total = 0;
    char text[64];

    if (!driver) {
        say("no-driver", dlerror(), NULL);
        return;
    }
    GET(init, driver, "cuInit");
    GET(version, driver, "cuDriverGetVersion");
    GET(count, driver, "cuDeviceGetCount");
    GET(retain, driver, "cuDevicePrimaryCtxRetain");
    GET(set, driver, "cuCtxSetCurrent");
    GET(memory, driver, "cuMemGetInfo_v2");
    if (version && version(&n) == 0)
        number("driver", n);
    say("try", "cuInit", NULL);
    code = init ? init(0) : 1;
    n = 0;
    if (code != 0 || !count || count(&n) != 0 || n == 0) {
        number("no-device", code);
        return;
    }
    number("devices", n);
    code = retain && set ? retain(&context, 0) : 1;
    if (code == 0)
        code = set(context);
    if (code == 0 && memory && memory(&free_bytes, &total) == 0) {
        snprintf(text, sizeof text, "%zu", total);
        number("memory", (long)free_bytes);
        say("memory-total", text, NULL);
    } else {
        number("no-context", code);
    }
}

static void create(void *library)
{
    int (*make)(void **), (*destroy)(void *);
    const char *(*describe)(int);
    void *handle = NULL;
    char text[32];
    int status;

    GET(make, library, "cudnnCreate");
    GET(destroy, library, "cudnnDestroy");
    GET(describe, library, "cudnnGetErrorString");
    if (!make)
        return;
    say("try", "cudnnCreate", NULL);
    status = make(&handle);
    snprintf(text, sizeof text, "%d", status);
    say("created", text, describe ? describe(status) : NULL);
    if (status == 0 && destroy)
        destroy(handle);
}

int verify_child(int argc, char **argv)
{
    size_t (*version)(void);
    void *library;

    if (argc < 3)
        return CLI_USAGE;
    say("try", argv[2], NULL);
    library = dlopen(argv[2], RTLD_NOW);
    if (!library) {
        say("failed", argv[2], dlerror());
        return CLI_FINDINGS;
    }
    GET(version, library, "cudnnGetVersion");
    if (!version) {
        say("failed", argv[2], "it has no function cudnnGetVersion");
        return CLI_FINDINGS;
    }
    say("try", "cudnnGetVersion", NULL);
    number("version", (long)version());
    open_parts(library, argc - 3, argv + 3);
    wait_for_parent("parts");
    ask_driver();
    create(library);
    wait_for_parent("handle");
    return CLI_GOOD;
}
