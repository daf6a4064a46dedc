/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Mode support: docs/support.md. Rows come from the tables, what they take from asking them (check) about one small problem of
 * each kind, functions from functions.def. What the cpu engine takes is oneDNN's to say, machine by machine, so the page has its
 * rows alone, and --engine cpu prints what this machine's takes. */
#include "bench.h"
#include "case.h"
#include "options.h"

#include "core/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small problems, more than one where rows differ by shape: %1$s is the type, %2$s the layout. */
static const struct { dn_op op; dn_dir dir; const char *line; } probes[] = {
    { DN_OP_CONV, DN_DIR_FWD, "conv fwd x=n2c32h8w8:%1$s:%2$s w=k32c32r3s3:%1$s:%2$s pad=1" },
    { DN_OP_CONV, DN_DIR_BWD_DATA, "conv bwd_data x=n2c32h8w8:%1$s:%2$s w=k32c32r3s3:%1$s:%2$s pad=1" },
    { DN_OP_CONV, DN_DIR_BWD_FILTER, "conv bwd_filter x=n2c32h8w8:%1$s:%2$s w=k32c32r3s3:%1$s:%2$s pad=1" },
#define SHAPES(op, dir, word)                                                                        \
    { op, dir, word " x=n2c32h8w8:%1$s:%2$s w=k4c32r3s3:%1$s:%2$s pad=1" },                          \
    { op, dir, word " x=n2c32h24w24:%1$s:%2$s w=k32c32r3s3:%1$s:%2$s pad=1" },                       \
    { op, dir, word " x=n2c32h48w48:%1$s:%2$s w=k32c32r11s11:%1$s:%2$s pad=5" },                     \
    { op, dir, word " x=n2c4h24w24:%1$s:%2$s w=k32c4r3s3:%1$s:%2$s pad=1" }
    SHAPES(DN_OP_CONV, DN_DIR_FWD, "conv fwd"),
    SHAPES(DN_OP_CONV, DN_DIR_BWD_DATA, "conv bwd_data"),
    SHAPES(DN_OP_CONV, DN_DIR_BWD_FILTER, "conv bwd_filter"),
    SHAPES(DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, "convba fwd"),
#undef SHAPES
    { DN_OP_CONV, DN_DIR_BWD_BIAS, "conv bwd_bias y=n2c32h8w8:%1$s:%2$s b=n1c32h1w1:%1$s" },
    { DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, "convba fwd x=n2c32h8w8:%1$s:%2$s w=k32c32r3s3:%1$s:%2$s pad=1" },
    { DN_OP_POOL, DN_DIR_FWD, "pool fwd x=n2c32h8w8:%1$s:%2$s win=2 str=2" },
    { DN_OP_POOL, DN_DIR_BWD_DATA, "pool bwd_data x=n2c32h8w8:%1$s:%2$s win=2 str=2" },
    { DN_OP_ACT, DN_DIR_FWD, "act fwd x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_ACT, DN_DIR_BWD_DATA, "act bwd_data x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_SOFTMAX, DN_DIR_FWD, "softmax fwd x=n2c32h8w8:%1$s:%2$s mode=channel" },
    { DN_OP_SOFTMAX, DN_DIR_BWD_DATA, "softmax bwd_data y=n2c32h8w8:%1$s:%2$s mode=channel" },
    { DN_OP_BN, DN_DIR_INFER, "bn infer x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_BN, DN_DIR_TRAIN, "bn train x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_BN, DN_DIR_BWD, "bn bwd x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_DROPOUT, DN_DIR_FWD, "dropout fwd x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_DROPOUT, DN_DIR_BWD_DATA, "dropout bwd_data dy=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_ADD, DN_DIR_FWD, "add fwd x=n1c32h1w1:%1$s y=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_SCALE, DN_DIR_FWD, "scale fwd y=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_SET, DN_DIR_FWD, "set fwd y=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_TRANSFORM, DN_DIR_FWD, "transform fwd x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_TENSOR, DN_DIR_FWD, "optensor fwd x=n2c32h8w8:%1$s:%2$s b=n1c32h1w1:%1$s" },
    { DN_OP_REDUCE, DN_DIR_FWD, "reduce fwd x=n2c32h8w8:%1$s:%2$s y=n1c32h1w1:%1$s" },
    { DN_OP_LRN, DN_DIR_FWD, "lrn fwd x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_LRN, DN_DIR_BWD_DATA, "lrn bwd_data x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_DIVNORM, DN_DIR_FWD, "divnorm fwd x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_DIVNORM, DN_DIR_BWD_DATA, "divnorm bwd_data x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_ST_SAMPLER, DN_DIR_FWD, "stsample fwd x=n2c32h8w8:%1$s:%2$s b=2x6x6x2:%1$s y=n2c32h6w6:%1$s:%2$s" },
    { DN_OP_ST_SAMPLER, DN_DIR_BWD,
      "stsample bwd x=n2c32h8w8:%1$s:%2$s b=2x6x6x2:%1$s dy=n2c32h6w6:%1$s:%2$s dx=n2c32h8w8:%1$s:%2$s dz=2x6x6x2:%1$s" },
    { DN_OP_TRANSFORM_EX, DN_DIR_FWD, "transformex fwd x=n2c32h8w8:%1$s:%2$s by=2" },
    { DN_OP_IM2COL, DN_DIR_FWD, "im2col fwd x=n2c32h8w8:%1$s:%2$s w=k8c32r3s3:%1$s:%2$s pad=1" },
    { DN_OP_RNN, DN_DIR_INFER, "rnn infer x=4x2x32:%1$s hid=32" },
    { DN_OP_RNN, DN_DIR_TRAIN, "rnn train x=4x2x32:%1$s hid=32" },
    { DN_OP_RNN, DN_DIR_BWD_DATA, "rnn bwd_data dx=4x2x32:%1$s hid=32" },
    { DN_OP_RNN, DN_DIR_BWD_FILTER, "rnn bwd_filter x=4x2x32:%1$s hid=32" },
    { DN_OP_SBA, DN_DIR_FWD, "sba fwd x=n2c32h8w8:%1$s:%2$s z=n2c32h8w8:%1$s:%2$s b=128x2x1:i32" },
    { DN_OP_SBA, DN_DIR_BWD_DATA, "sba bwd_data dy=n2c32h8w8:%1$s:%2$s b=128x2x1:i32" },
    { DN_OP_STATS, DN_DIR_FWD, "stats fwd x=n2c32h8w8:%1$s:%2$s" },
    { DN_OP_BN_FINAL, DN_DIR_TRAIN, "bnfinal train w=n1c32h1w1:%1$s b=n1c32h1w1:%1$s" },
    { DN_OP_BN_FINAL, DN_DIR_INFER, "bnfinal infer w=n1c32h1w1:%1$s b=n1c32h1w1:%1$s" },
    { DN_OP_ST_GRID, DN_DIR_FWD, "stgrid fwd x=2x2x3:%1$s y=2x6x6x2:%1$s" },
    { DN_OP_ST_GRID, DN_DIR_BWD_DATA, "stgrid bwd_data dy=2x6x6x2:%1$s dx=2x2x3:%1$s" },
    { DN_OP_ATTN, DN_DIR_INFER, "attn infer x=4x2x1x8:%1$s b=6x2x1x8:%1$s z=6x2x1x8:%1$s heads=2 qp=4 kp=4 vp=4 op=8" },
    { DN_OP_ATTN, DN_DIR_TRAIN, "attn train x=4x2x1x8:%1$s b=6x2x1x8:%1$s z=6x2x1x8:%1$s heads=2 qp=4 kp=4 vp=4 op=8" },
    { DN_OP_ATTN, DN_DIR_BWD_DATA, "attn bwd_data x=4x2x1x8:%1$s b=6x2x1x8:%1$s z=6x2x1x8:%1$s heads=2 qp=4 kp=4 vp=4 op=8" },
    { DN_OP_ATTN, DN_DIR_BWD_FILTER, "attn bwd_filter x=4x2x1x8:%1$s b=6x2x1x8:%1$s z=6x2x1x8:%1$s heads=2 qp=4 kp=4 vp=4 op=8" },
    { DN_OP_CTC, DN_DIR_FWD, "ctc fwd x=t8n2c5:%1$s dx=t8n2c5:%1$s labels=3" },
};

static const char *const types[] = { "f32", "f64", "f16", "bf16", "i8", "u8", "i32", "i8x4", "i8x32" };
static const char *const layouts[] = { "nchw", "nhwc" };

/* The page being made. */
typedef struct page {
    char *text;
    size_t size, room;
} page;

DN_PRINTF(2, 3) static void put(page *p, const char *fmt, ...)
{
    va_list ap;
    char line[1024];
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    size_t len = n < (int)sizeof line ? (size_t)n : sizeof line - 1;
    if (p->size + len + 1 > p->room) {
        size_t room = 2 * p->room + len + 4096;
        char *more = realloc(p->text, room);
        if (!more)
            return;
        p->text = more;
        p->room = room;
    }
    memcpy(p->text + p->size, line, len + 1);
    p->size += len;
}

/* The format takes its two strings in any number. */
static void fill_in(char *out, size_t size, const char *line, const char *type, const char *layout)
{
    size_t n = 0;
    for (const char *s = line; *s && n + 8 < size; s++) {
        if (strncmp(s, "%1$s", 4) == 0 || strncmp(s, "%2$s", 4) == 0) {
            n += (size_t)snprintf(out + n, size - n, "%s", s[1] == '1' ? type : layout);
            s += 3;
        } else {
            out[n++] = *s;
        }
    }
    out[n] = 0;
}

static bool takes(const dn_solver *row, const char *line, const char *type, const char *layout)
{
    char text[512];
    bench_case c;
    fill_in(text, sizeof text, line, type, layout);
    if (bench_case_parse(text, &c) != DN_SUCCESS)
        return false;
    c.p.algo = row->algo;
    return !dn_solver_refuses(row, &c.p);
}

/* Whether any of the problems of the row's operation is taken with this type and layout. */
static bool takes_any(const dn_solver *row, const char *type, const char *layout)
{
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (probes[i].op == row->op && probes[i].dir == row->dir && takes(row, probes[i].line, type, layout))
            return true;
    return false;
}

static void put_types(page *p, const dn_solver *row)
{
    int n = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        bool at[2];
        for (int l = 0; l < 2; l++)
            at[l] = takes_any(row, types[t], layouts[l]);
        if (!at[0] && !at[1])
            continue;
        put(p, "%s%s", n++ ? " " : "", types[t]);
        if (at[0] != at[1])
            put(p, " (%s)", at[0] ? "NCHW" : "NHWC");
    }
    if (!n)
        put(p, "-");
}

static bool is_own(const dn_engine *e, const char *row)
{
    return strncmp(row, e->name, strlen(e->name)) == 0;
}

static void put_row(page *p, const dn_solver *row, bool ask)
{
    char algo[16] = "";
    if (row->algo >= 0)
        snprintf(algo, sizeof algo, "%d", row->algo);
    put(p, "| %s | %s | %s | `%s` | %s |", dn_op_name((dn_op)row->op), dn_dir_name((dn_dir)row->dir), algo, row->name,
        row->flags & DN_SOLVER_NONDETERMINISTIC ? "no" : "yes");
    if (ask) {
        put(p, " ");
        put_types(p, row);
        put(p, " |");
    }
    put(p, "\n");
}

static void put_engine(page *p, const dn_engine *e, bool ask)
{
    put(p, "| operation | direction | algorithm | row | equal bits in every run |%s\n", ask ? " types |" : "");
    put(p, "| --- | --- | --- | --- | --- |%s\n", ask ? " --- |" : "");
    for (int op = 0; op < DN_OP_COUNT; op++)
        for (int dir = 0; dir < DN_DIR_COUNT; dir++) {
            const dn_solver *row;
            for (int i = 0; (row = dn_solver_at(e, (dn_op)op, (dn_dir)dir, i)); i++)
                if (is_own(e, row->name))
                    put_row(p, row, ask);
        }
    put(p, "\n");
}

static const struct { const char *name; int in8, in9, real; } functions[] = {
#define REAL 1
#define STUB 0
#define DN_FN(name, in8, in9, sub8, sub9, kind) { #name, in8, in9, kind },
#include "api/functions.def"
#undef DN_FN
#undef REAL
#undef STUB
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void put_functions(page *p)
{
    int real[2] = { 0 }, all[2] = { 0 };
    for (int i = 0; i < FUNCTIONS; i++) {
        all[0] += functions[i].in8;
        all[1] += functions[i].in9;
        real[0] += functions[i].in8 && functions[i].real;
        real[1] += functions[i].in9 && functions[i].real;
    }
    put(p, "## Functions\n\nReal: %d of the %d functions of `libcudnn.so.8`, %d of the %d of `libcudnn.so.9`. ", real[0], all[0],
        real[1], all[1]);
    put(p, "The others are exported and answer\n`CUDNN_STATUS_NOT_SUPPORTED` with a text that names them. ");
    put(p, "`dnbench api --lib PATH` tells the same of a library file.\n\n");
    put(p, "`cudnnGetBackdoor`, `cudnnSetBackdoor`, `cudnnSetBackdoorEx` and `cudnnGetRNNDropoutLocationsInternal` will stay so: no header declares\n"
           "them and no document says what they do; they are exported because the vendor's library has these names.\n\n");
    for (int kind = 1; kind >= 0; kind--) {
        put(p, "### %s\n\n| function | 8 | 9 |\n| --- | --- | --- |\n", kind ? "Real" : "Not real yet");
        for (int i = 0; i < FUNCTIONS; i++)
            if (functions[i].real == kind)
                put(p, "| `%s` | %s | %s |\n", functions[i].name, functions[i].in8 ? "x" : "", functions[i].in9 ? "x" : "");
        put(p, "\n");
    }
}

static void make_page(page *p)
{
    put(p, "# What is supported\n\n"
           "Written by `dnbench support`; do not edit. A row is one way to compute an operation: a call runs the first that takes\n"
           "its problem (`dnbench list 'LINE'` says which do, and why the others do not). Types are those of x that the row takes\n"
           "in a small problem with all tensors of one type.\n\n"
           "## Engine ref: any machine\n\n");
    put_engine(p, &dn_ref_engine, true);
    put(p, "Layouts: any strides, unless a type says otherwise.\n\n"
           "## Engine cpu: oneDNN\n\n"
           "What a row takes depends on the version of oneDNN and on the CPU; `dnbench support --engine cpu` prints it for the\n"
           "machine that it runs on. What none of these takes is computed by ref's rows.\n\n");
    put_engine(p, &dn_cpu_engine, false);
    put(p, "## Engine cuda: NVIDIA GPUs\n\n"
           "Oldest GPU: compute capability 7.5 (Turing) for a row whose name has no `_sm`, else the one in the name; `ANYDNN_CUDA_ARCHS` picks\n"
           "which capabilities a build has code for, and the text for 8.0 serves newer ones. Oldest driver: 580 for code made by CUDA 13,\n"
           "525.60 by CUDA 12, 450.80 by CUDA 11 (the text needs the driver of the toolkit that made it); `cudnnCreate` says what is too old. Rows\n"
           "with a layout or `flat` in the name want aligned pointers and say what else in `dnbench list`; types of a row that refuses the small\n"
           "problem are not shown.\n\n");
    put_engine(p, &dn_cuda_engine, true);
    put_functions(p);
    while (p->size > 1 && p->text[p->size - 2] == '\n')
        p->text[--p->size] = 0;
}

static int compare_page(const page *p, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "dnbench: %s cannot be read\n", path);
        return BENCH_CANNOT_READ;
    }
    size_t line = 1, i = 0;
    int c = getc(f);
    for (; i < p->size && c == (unsigned char)p->text[i]; i++, c = getc(f))
        line += c == '\n';
    fclose(f);
    if (i == p->size && c == EOF)
        return BENCH_GOOD;
    printf("%s is out of date from line %zu on: run dnbench support --out %s\n", path, line, path);
    return BENCH_FINDINGS;
}

int bench_support(int argc, char **argv)
{
    static const char help[] = "usage: dnbench support [--out FILE | --golden FILE | --engine NAME]\n"
                               "  Writes docs/support.md to FILE or standard output. --golden: is FILE up to date?\n"
                               "  --engine NAME: the rows of that engine with what they take on this machine\n";
    bench_options o;
    page p = { 0 };
    bool end;
    int code = bench_options_read(&o, argc, argv, help, false, &end);
    if (code != BENCH_GOOD || end)
        return code;
    if (o.engine)
        for (const dn_engine *const *e = dn_engines; *e; e++)
            if (strcmp((*e)->name, o.engine) == 0)
                put_engine(&p, *e, true);
    if (!o.engine)
        make_page(&p);
    if (!p.text)
        code = BENCH_USAGE;
    else if (o.golden)
        code = compare_page(&p, o.golden);
    else {
        FILE *f = o.out ? fopen(o.out, "w") : stdout;
        code = f ? BENCH_GOOD : BENCH_CANNOT_READ;
        if (f)
            fwrite(p.text, 1, p.size, f);
        if (o.out && f)
            fclose(f);
    }
    free(p.text);
    bench_options_free(&o);
    return code;
}
