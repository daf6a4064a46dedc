/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What train_digits.c needs beside the library: random numbers, the clock, the data file, the command line. Functions are static
 * so that the example compiles with one command. */
#ifndef DIGITS_H
#define DIGITS_H

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#include <io.h>
#define stdout_is_terminal() _isatty(1)
#else
#include <unistd.h>
#define stdout_is_terminal() isatty(1)
#endif

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, INK_MAX = 16, N_TRAIN = 1500, N_IMAGES_MAX = 1000000 };
enum { EXIT_GOOD, EXIT_INACCURATE, EXIT_INPUT, EXIT_LIBRARY };

#define SPLIT_SEED 20240229u  /* which images are test images: the same for every --seed, so that runs can be compared */
#define WANTED_ACCURACY 0.97

static void *allocate(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) {
        fprintf(stderr, "train_digits: no memory for %zu x %zu bytes\n", count, size);
        exit(EXIT_INPUT);
    }
    return p;
}

/* splitmix64 (Steele, Lea, Flood, 2014): small, and good enough for shuffling and for first weights. */
static unsigned long long random_bits(unsigned long long *state)
{
    unsigned long long z = *state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static double random_unit(unsigned long long *state)  /* 0 <= value < 1 */
{
    return (double)(random_bits(state) >> 11) / 9007199254740992.0;
}

static void shuffle(int *v, int n, unsigned long long *state)  /* Fisher and Yates */
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(random_bits(state) % (unsigned)(i + 1)), t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
}

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- the data file --- */

typedef struct digit {
    unsigned char pixel[PIXELS];  /* rows from the top left, 0 paper .. 16 ink */
    int label;
} digit;

typedef struct digits {
    digit *v;
    int n, *order;  /* order: a permutation of 0 .. n-1; the first N_TRAIN are to train with, the others to test */
} digits;

static void bad_line(const char *file, int line, const char *what, const char *text, int len)
{
    fprintf(stderr, "train_digits: %s, line %d: %s", file, line, what);
    if (text) {
        fputs(", found \"", stderr);
        for (int i = 0; i < len && i < 20; i++)
            fputc(isprint((unsigned char)text[i]) ? text[i] : '?', stderr);
        fputs(len > 20 ? "...\"" : "\"", stderr);
    }
    fputc('\n', stderr);
    exit(EXIT_INPUT);
}

/* One line: 64 pixels and a label, with commas between them. */
static void digit_parse(digit *d, const char *s, const char *file, int line)
{
    for (int i = 0; i <= PIXELS; i++) {
        int len = (int)strcspn(s, ","), max = i < PIXELS ? INK_MAX : CLASSES - 1;
        char *end, what[80];
        long v = strtol(s, &end, 10);
        if (!isdigit((unsigned char)*s) || end != s + len || v > max) {
            if (i < PIXELS)
                snprintf(what, sizeof what, "value %d of 65 (a pixel) must be a whole number 0..%d", i + 1, max);
            else
                snprintf(what, sizeof what, "value 65 of 65 (the label) must be a digit 0..9");
            bad_line(file, line, what, s, len);
        }
        if (i < PIXELS && s[len] != ',') {
            snprintf(what, sizeof what, "the line ends after %d values, 64 pixels and a label are wanted", i + 1);
            bad_line(file, line, what, NULL, 0);
        }
        if (i < PIXELS)
            d->pixel[i] = (unsigned char)v;
        else if (s[len])
            bad_line(file, line, "more than 65 values", NULL, 0);
        else
            d->label = (int)v;
        s += len + 1;
    }
}

static void digits_read(digits *d, const char *file)
{
    FILE *f = fopen(file, "rb");
    if (!f) {
        fprintf(stderr, "train_digits: cannot open %s: %s\n", file, strerror(errno));
        exit(EXIT_INPUT);
    }
    char s[1024];
    int room = 0, line = 0;
    while (fgets(s, sizeof s, f)) {
        size_t len = strlen(s);
        line++;
        if (line == 1 && !strncmp(s, "\x1f\x8b", 2))
            bad_line(file, line, "this is a gzip file; unpack it first (gzip -d)", NULL, 0);
        if (!len)
            bad_line(file, line, "a zero byte, not text", NULL, 0);
        if (len == sizeof s - 1 && s[len - 1] != '\n')
            bad_line(file, line, "the line is too long", NULL, 0);
        s[strcspn(s, "\r\n")] = 0;
        if (!*s)
            continue;
        if (d->n == N_IMAGES_MAX)
            bad_line(file, line, "more than a million images", NULL, 0);
        if (d->n == room) {
            room = room ? 2 * room : 2048;
            digit *v = allocate((size_t)room, sizeof *v);
            if (d->n)
                memcpy(v, d->v, (size_t)d->n * sizeof *v);
            free(d->v);
            d->v = v;
        }
        digit_parse(&d->v[d->n++], s, file, line);
    }
    if (ferror(f)) {
        fprintf(stderr, "train_digits: cannot read %s: %s\n", file, strerror(errno));
        exit(EXIT_INPUT);
    }
    fclose(f);
    if (d->n <= N_TRAIN) {
        fprintf(stderr, "train_digits: %s has %d images; more than %d are needed (%d to train, the others to test)\n", file, d->n,
                N_TRAIN, N_TRAIN);
        exit(EXIT_INPUT);
    }
    unsigned long long state = SPLIT_SEED;
    d->order = allocate((size_t)d->n, sizeof *d->order);
    for (int i = 0; i < d->n; i++)
        d->order[i] = i;
    shuffle(d->order, d->n, &state);
}

/* --- the command line --- */

typedef struct options {
    const char *data, *svg;
    int epochs, batch, quiet;
    unsigned long long seed;
} options;

static const char usage_text[] =
    "usage: train_digits [options] <digits-file> [output.svg]\n"
    "Trains a small convolutional network on 8x8 images of digits through the cuDNN interface.\n"
    "  --epochs N   passes over the training images, 1..1000 (default 12)\n"
    "  --batch N    images per step, 1..1500 (default 50)\n"
    "  --seed S     seed of weights, order and dropout (default 1)\n"
    "  --svg FILE   write loss, accuracy and the misread digits as a picture\n"
    "  --quiet      print the result only\n"
    "  --help       print this\n"
    "Exit code: 0 test accuracy of 97 % or more, 1 less, 2 usage or file error, 3 a library call failed.\n";

static void usage_error(const char *what, const char *arg)
{
    fprintf(stderr, "train_digits: %s: %s\n%s", what, arg, usage_text);
    exit(EXIT_INPUT);
}

static unsigned long long number(const char *option, const char *s, unsigned long long min, unsigned long long max)
{
    char *end, what[96];
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    if (isdigit((unsigned char)*s) && !*end && !errno && v >= min && v <= max)
        return v;
    snprintf(what, sizeof what, "%s wants a whole number %llu..%llu", option, min, max);
    usage_error(what, s);
    return 0;
}

static void option_set(options *o, const char *name, const char *value)
{
    if (!strcmp(name, "--epochs"))
        o->epochs = (int)number(name, value, 1, 1000);
    else if (!strcmp(name, "--batch"))
        o->batch = (int)number(name, value, 1, N_TRAIN);
    else if (!strcmp(name, "--seed"))
        o->seed = number(name, value, 0, ~0ull);
    else
        o->svg = value;
}

static void options_read(options *o, int argc, char **argv)
{
    static const char *const with_value[] = {"--epochs", "--batch", "--seed", "--svg"};
    int dashes = 0;  /* after "--" all arguments are files */
    for (int i = 1; i < argc; i++) {
        const char *name = NULL, *a = argv[i];
        size_t len = strcspn(a, "=");
        for (int j = 0; j < 4; j++)
            if (!dashes && len == strlen(with_value[j]) && !strncmp(a, with_value[j], len))
                name = with_value[j];
        if (name && a[len])
            option_set(o, name, a + len + 1);
        else if (name && ++i == argc)
            usage_error("a value must follow", a);
        else if (name)
            option_set(o, name, argv[i]);
        else if (!dashes && !strcmp(a, "--quiet"))
            o->quiet = 1;
        else if (!dashes && (!strcmp(a, "--help") || !strcmp(a, "-h")))
            exit(fputs(usage_text, stdout) < 0 ? EXIT_INPUT : EXIT_GOOD);
        else if (!dashes && !strcmp(a, "--"))
            dashes = 1;
        else if (!dashes && a[0] == '-' && a[1])
            usage_error("no such option", a);
        else if (!o->data)
            o->data = a;
        else if (!o->svg)
            o->svg = a;
        else
            usage_error("one argument too many", a);
    }
    if (!o->data)
        usage_error("missing argument", "digits-file");
}

#endif
