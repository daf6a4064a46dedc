/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The picture that train_digits.c writes, as SVG: loss above, accuracy below, the misread digits at the right. */
#ifndef DIGITS_SVG_H
#define DIGITS_SVG_H

#include "digits.h"

#include <float.h>
#include <math.h>

typedef struct miss {
    int image, guess;
    double p;  /* of the guess */
} miss;

typedef struct history {
    int epochs, steps, n_test, n_misses;  /* so far; misses: of the last epoch */
    float *loss;      /* of every step */
    double *accuracy; /* on the test images, after every epoch */
    miss *misses;     /* n_test */
    double seconds;   /* spent in training, tests not counted */
} history;

typedef struct panel {
    double x, y, w, h;    /* place in the picture */
    double x_max;         /* data: 0 .. x_max */
    double y_min, y_max;  /* data, bottom and top */
} panel;

static double panel_x(const panel *p, double x)
{
    return p->x + p->w * x / p->x_max;
}

static double panel_y(const panel *p, double y)  /* NaN and what is under the panel go to its lower edge */
{
    y = y > p->y_min ? y : p->y_min;
    y = y < p->y_max ? y : p->y_max;
    return p->y + p->h * (p->y_max - y) / (p->y_max - p->y_min);
}

static void svg_text(FILE *f, double x, double y, const char *class, const char *text)
{
    fprintf(f, "<text x='%.1f' y='%.1f' class='%s'>%s</text>\n", x, y, class, text);
}

static void svg_line(FILE *f, double x0, double y0, double x1, double y1, const char *class)
{
    fprintf(f, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='%s'/>\n", x0, y0, x1, y1, class);
}

/* Frame, title, and epoch numbers under it: at most 12 of them, and the last. */
static void svg_panel(FILE *f, const panel *p, const char *title)
{
    int epochs = (int)p->x_max, every = (epochs + 11) / 12;
    svg_text(f, p->x, p->y - 12, "title", title);
    for (int e = 0; e <= epochs; e += every) {
        char s[16];
        snprintf(s, sizeof s, "%d", e);
        svg_line(f, panel_x(p, e), p->y + p->h, panel_x(p, e), p->y + p->h + 4, "axis");
        svg_text(f, panel_x(p, e), p->y + p->h + 18, "mid", s);
    }
    svg_line(f, p->x, p->y + p->h, p->x + p->w, p->y + p->h, "axis");
    svg_text(f, p->x + p->w / 2, p->y + p->h + 36, "mid", "epoch");
}

static double epoch_mean(const history *h, int epoch)
{
    int n = h->steps / h->epochs;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += h->loss[epoch * n + i];
    return sum / n;
}

/* Logarithmic: a line at 1, 2 .. 9 times each power of ten, a label at each power. */
static void svg_loss(FILE *f, const history *h)
{
    double lo = 1e9, hi = 1e-4;
    int per_epoch = h->steps / h->epochs;
    for (int i = 0; i < h->steps; i++) {
        lo = h->loss[i] < lo ? h->loss[i] : lo;
        hi = h->loss[i] > hi && h->loss[i] < FLT_MAX ? h->loss[i] : hi;
    }
    lo = floor(log10(lo > 1e-4 && lo < hi ? lo : 1e-4));
    panel p = {70, 84, 500, 230, h->epochs, lo, fmax(ceil(log10(hi)), lo + 1)};
    for (double decade = lo; decade < p.y_max; decade++)
        for (int i = 2; i <= 10; i++)
            svg_line(f, p.x, panel_y(&p, decade + log10(i)), p.x + p.w, panel_y(&p, decade + log10(i)), i < 10 ? "faint" : "grid");
    for (double decade = lo; decade <= p.y_max; decade++) {
        char s[32];
        snprintf(s, sizeof s, "%g", pow(10, decade));
        svg_text(f, p.x - 8, panel_y(&p, decade) + 4, "end", s);
    }
    svg_panel(f, &p, "Training loss");
    fputs("<polyline class='step' points='", f);
    for (int i = 0; i < h->steps; i++)
        fprintf(f, "%.1f,%.1f ", panel_x(&p, (i + 0.5) / per_epoch), panel_y(&p, log10(h->loss[i])));
    fputs("'/>\n<polyline class='loss' points='", f);
    for (int e = 0; e < h->epochs; e++)
        fprintf(f, "%.1f,%.1f ", panel_x(&p, e + 0.5), panel_y(&p, log10(epoch_mean(h, e))));
    fputs("'/>\n", f);
    for (int e = 0; e < h->epochs; e++)
        fprintf(f, "<circle class='mean' cx='%.1f' cy='%.1f' r='3'><title>epoch %d: %.4f</title></circle>\n",
                panel_x(&p, e + 0.5), panel_y(&p, log10(epoch_mean(h, e))), e + 1, epoch_mean(h, e));
    svg_line(f, p.x + p.w - 194, p.y - 16, p.x + p.w - 174, p.y - 16, "step");
    svg_text(f, p.x + p.w - 168, p.y - 12, "", "each step");
    svg_line(f, p.x + p.w - 98, p.y - 16, p.x + p.w - 78, p.y - 16, "loss");
    svg_text(f, p.x + p.w - 72, p.y - 12, "", "epoch mean");
}

static void svg_accuracy(FILE *f, const history *h)
{
    double lo = 90;
    char s[64];
    for (int e = 0; e < h->epochs; e++)
        lo = fmin(lo, floor(h->accuracy[e] * 10) * 10);
    panel p = {70, 418, 500, 150, h->epochs, lo, 100};
    double every = lo >= 90 ? 2 : lo >= 70 ? 5 : lo >= 50 ? 10 : 20;
    for (double y = 100; y >= lo; y -= every) {
        snprintf(s, sizeof s, "%.0f %%", y);
        svg_line(f, p.x, panel_y(&p, y), p.x + p.w, panel_y(&p, y), "grid");
        svg_text(f, p.x - 8, panel_y(&p, y) + 4, "end", s);
    }
    svg_panel(f, &p, "Test accuracy");
    svg_line(f, p.x, panel_y(&p, 100 * WANTED_ACCURACY), p.x + p.w, panel_y(&p, 100 * WANTED_ACCURACY), "wanted");
    snprintf(s, sizeof s, "wanted: %.0f %%", 100 * WANTED_ACCURACY);
    svg_line(f, p.x + p.w - 112, p.y - 16, p.x + p.w - 92, p.y - 16, "wanted");
    svg_text(f, p.x + p.w - 86, p.y - 12, "", s);
    fputs("<polyline class='accuracy' points='", f);
    for (int e = 0; e < h->epochs; e++)
        fprintf(f, "%.1f,%.1f ", panel_x(&p, e + 1), panel_y(&p, 100 * h->accuracy[e]));
    fputs("'/>\n", f);
    for (int e = 0; e < h->epochs; e++)
        fprintf(f, "<circle class='dot' cx='%.1f' cy='%.1f' r='3'><title>epoch %d: %.2f %%</title></circle>\n", panel_x(&p, e + 1),
                panel_y(&p, 100 * h->accuracy[e]), e + 1, 100 * h->accuracy[e]);
}

/* x, y: the upper left corner of its 8 x 8 cells. */
static void svg_miss(FILE *f, double x, double y, int cell, const digit *g, const miss *m)
{
    char s[96];
    fprintf(f, "<g><title>image %d of the data file; probability of the wrong answer: %.0f %%</title>\n", m->image + 1, 100 * m->p);
    for (int j = 0; j < PIXELS; j++) {
        unsigned grey = 255 - g->pixel[j] * 255u / INK_MAX;
        fprintf(f, "<rect x='%g' y='%g' width='%d' height='%d' fill='#%02x%02x%02x'/>\n", x + j % SIDE * cell, y + j / SIDE * cell,
                cell, cell, grey, grey, grey);
    }
    fprintf(f, "<rect x='%g' y='%g' width='%d' height='%d' class='frame'/></g>\n", x, y, SIDE * cell, SIDE * cell);
    snprintf(s, sizeof s, "true %d, read <tspan class='wrong'>%d</tspan>", g->label, m->guess);
    svg_text(f, x, y + SIDE * cell + 18, "", s);
}

/* Up to 6 are drawn large in two columns, up to 12 smaller in three. */
static void svg_misses(FILE *f, const digits *d, const history *h)
{
    enum { X = 630, Y = 84, SHOWN = 12 };
    int shown = h->n_misses < SHOWN ? h->n_misses : SHOWN, across = shown <= 6 ? 2 : 3, cell = shown <= 6 ? 17 : 11;
    int step_x = 330 / across, step_y = SIDE * cell + (shown <= 6 ? 36 : 38);
    char s[96];
    snprintf(s, sizeof s, "Misread: %d of %d test images", h->n_misses, h->n_test);
    svg_text(f, X, Y - 12, "title", s);
    for (int i = 0; i < shown; i++)
        svg_miss(f, X + i % across * step_x, Y + i / across * step_y, cell, &d->v[h->misses[i].image], &h->misses[i]);
    if (h->n_misses > shown) {
        snprintf(s, sizeof s, "and %d more", h->n_misses - shown);
        svg_text(f, X, Y + shown / across * step_y + 8, "", s);
    }
}

static void svg_write(const char *file, const char *engine, const digits *d, const history *h)
{
    FILE *f = fopen(file, "w");
    if (f) {
        fputs("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 980 630' width='980' height='630'>\n<style>\n"
              "text { font: 12px sans-serif; fill: #57606a } .mid { text-anchor: middle } .end { text-anchor: end }\n"
              ".head { font-size: 17px; font-weight: bold; fill: #24292f } .title { font-size: 14px; fill: #24292f }\n"
              ".axis { stroke: #57606a } .grid { stroke: #d0d7de } .faint { stroke: #eff2f5 }\n"
              ".frame { fill: none; stroke: #8c959f } polyline { fill: none; stroke-linejoin: round }\n"
              ".step { stroke: #a8c7fa } .loss { stroke: #0b57d0; stroke-width: 2.5 }\n"
              ".accuracy { stroke: #1a7f37; stroke-width: 2 } .dot { fill: #1a7f37 } .mean { fill: #0b57d0 }\n"
              ".wanted { stroke: #bc4c00; stroke-dasharray: 5 4 } .wrong { fill: #cf222e; font-weight: bold }\n"
              "</style>\n<rect width='980' height='630' fill='#ffffff'/>\n", f);
        char s[160];
        snprintf(s, sizeof s, "Handwritten digits, engine %s: test accuracy %.2f %% after %d epoch%s", engine,
                 100 * h->accuracy[h->epochs - 1], h->epochs, h->epochs == 1 ? "" : "s");
        svg_text(f, 24, 34, "head", s);
        svg_loss(f, h);
        svg_accuracy(f, h);
        svg_misses(f, d, h);
        fputs("</svg>\n", f);
    }
    int failed = !f || ferror(f);
    if ((f && fclose(f)) || failed) {
        fprintf(stderr, "train_digits: cannot write %s: %s\n", file, strerror(errno));
        exit(EXIT_INPUT);
    }
}

#endif
