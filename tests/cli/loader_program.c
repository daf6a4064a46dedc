/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The program that loader_random.c starts: opens names from inside given objects and says which file each led to.
 *     loader_program [CALLER NAME]...      CALLER: path of a loaded object as the loader spells it, or "-" for the program itself
 * Output: "open NAME PATH" for each pair ("!" for a failure), then "map PATH" for each object in load order. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

typedef void *opener(void *(*open)(const char *, int), const char *name);

static void *open_from(const char *caller, const char *name)
{
    void *object, *symbol;
    opener *call;

    if (strcmp(caller, "-") == 0)
        return dlopen(name, RTLD_LAZY);
    object = dlopen(caller, RTLD_LAZY | RTLD_NOLOAD);
    symbol = object ? dlsym(object, "call") : NULL;
    if (!symbol) {
        printf("lost %s\n", caller);
        return NULL;
    }
    memcpy(&call, &symbol, sizeof call);
    return call(dlopen, name);
}

static int print_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    printf("map %s\n", info->dlpi_name);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        void *handle = open_from(argv[i], argv[i + 1]);
        const struct link_map *map = handle;

        printf("open %s %s\n", argv[i + 1], map ? map->l_name : "!");
    }
    dl_iterate_phdr(print_object, NULL);
    return 0;
}
