/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * two_abis LIBDIR: both libraries and a forwarder of each in one process, all in the global scope, in
 * either order. Each answers with its own version: no name of one is caught by the other.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef size_t version_fn(void);

static const struct { const char *file; size_t version; } libraries[] = {
    { "libcudnn.so.8", 8907 },
    { "libcudnn_ops_infer.so.8", 8907 },
    { "libcudnn.so.9", 91900 },
    { "libcudnn_graph.so.9", 91900 },
};

enum { COUNT = sizeof libraries / sizeof libraries[0] };

static int check(const char *dir, int backwards)
{
    void *opened[COUNT];
    char path[4096];

    for (int i = 0; i < COUNT; i++) {
        int k = backwards ? COUNT - 1 - i : i;

        snprintf(path, sizeof path, "%s/%s", dir, libraries[k].file);
        opened[k] = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (!opened[k]) {
            fprintf(stderr, "two_abis: %s\n", dlerror());
            return 1;
        }
    }
    for (int k = 0; k < COUNT; k++) {
        void *symbol = dlsym(opened[k], "cudnnGetVersion");
        version_fn *version;

        memcpy(&version, &symbol, sizeof version);
        if (!symbol || version() != libraries[k].version) {
            fprintf(stderr, "two_abis: %s answers version %zu\n", libraries[k].file, symbol ? version() : 0);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    pid_t child;

    if (argc != 2)
        return 2;
    /* A child for the other order: a library that was opened once stays. */
    child = fork();
    if (child == 0)
        _exit(check(argv[1], 1));
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status) || check(argv[1], 0);
}
