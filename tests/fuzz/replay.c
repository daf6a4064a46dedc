/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Runs a fuzz target over files, for machines without libFuzzer: replay FILE... Ends with the count, so an empty corpus shows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    int ran = 0;
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        uint8_t *data = malloc(1 << 20);
        if (!f || !data) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return 3;
        }
        size_t size = fread(data, 1, 1 << 20, f);
        fclose(f);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
        ran++;
    }
    printf("%d inputs\n", ran);
    return ran ? 0 : 1;
}
