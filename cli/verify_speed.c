/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Level 3 of `verify`: one convolution with the library, compared with the truth, and timed against a plain loop. dnbench does both, in processes
 * of its own. */
#include "verify.h"
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The second 3x3 layer of ResNet-50 for one picture: 0.23 GFLOP, some 12 ms for the plain loop on two cores. */
#define CONVOLUTION "conv fwd x=n1c64h56w56:f32 w=k64c64r3s3:f32 pad=1"
static const char problem[] = CONVOLUTION " algo#=1"; /* implicit precomputed GEMM: every library takes it here */
static const char plain_row[] = "ref_conv_fwd_direct";

/* docs/tool.md has the measurements behind it. */
static const double threshold = 4;

/* Seconds: 20 in all. The first start may have to bring a GPU up; runs begin while RACE is not over. */
enum { CHECK = 9, RACE = 3, RUN = 5, PLAIN_RUN = 3, TRIES = 4 };

static const char proves[] = "this library computes one convolution right, and several times faster than a plain loop does";
static const char proves_not[] = "that other operations or sizes are right or fast (dnbench check and time), or that it is as fast as it could be here "
                                 "(anydnn find)";

/* Cell of a CSV line; quotes are taken off. */
static const char *cell(const char *line, int index, char *out, size_t size)
{
    bool quoted = false;
    size_t n = 0;

    for (; line && *line && *line != '\n'; line++) {
        if (*line == '"')
            quoted = !quoted;
        else if (*line == ',' && !quoted) {
            if (index-- == 0)
                break;
        } else if (index == 0 && n + 1 < size)
            out[n++] = *line;
    }
    out[n] = 0;
    return out;
}

enum { CELL_VERDICT = 1, CELL_NORM = 4, CELL_MS = 5, CELL_WHY = 8 };

static void first_line(const process_text *t, char *out, size_t size)
{
    const char *text = t->text ? t->text : "";

    text += strncmp(text, "dnbench: ", 9) == 0 ? 9 : 0;
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

/* A library that gives no handle: is there a reason that lies outside of it? The vendor's needs a device. */
static const char *judge_not_opened(verify *v, const process *child)
{
    static char text[600];

    first_line(&child->errors, text, sizeof text);
    if (!v->file.is_ours && (strstr(text, "CUDA") || strstr(text, "cuda") || strstr(text, "NOT_INITIALIZED")) && !strstr(text, "cannot open shared"))
        return text;
    verify_finding(v, CLI_ERROR, "not-loaded", text, NULL, "%s could not be loaded for a convolution.", v->place.file);
    return NULL;
}

/* 1: right, 0: not, -1: could not be asked (*skipped says why where that is no fault). */
static int check_result(verify *v, verify_level *level, const char *dnbench, const char **skipped)
{
    const char *argv[] = { dnbench, "check", "--lib", v->place.file, "--csv", "-", "--seconds", "10", problem, NULL };
    char text[400], verdict[24], norm[40], why[300], how[120];
    const char *line;
    process child;
    int answer = -1;

    if (process_run(&child, argv, NULL, CHECK) != 0) {
        *skipped = "dnbench could not be started";
        return -1;
    }
    line = process_wait_for(&child, "check,");
    if (!line && (child.late || child.signal)) {
        verify_finding(v, CLI_ERROR, "crashed", "The first convolution stops or ends the process.", NULL, "dnbench with %s: %s.", v->place.file,
                       process_how(&child, how));
    } else if (!line) {
        *skipped = judge_not_opened(v, &child);
    } else {
        answer = 1;
        for (; line && strncmp(line, "check,", 6) == 0; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
            cell(line, CELL_VERDICT, verdict, sizeof verdict);
            cell(line, CELL_NORM, norm, sizeof norm);
            cell(line, CELL_WHY, why, sizeof why);
            if (strcmp(verdict, "fail") == 0) {
                answer = 0;
                break;
            }
        }
    }
    if (answer == 0) {
        cell(line, 2, text, sizeof text);
        bool ended = strstr(why, "crashed") || strstr(why, "time limit");
        verify_finding(v, CLI_ERROR, ended ? "crashed" : "wrong-result", why, NULL,
                       ended ? "The library was loaded, and its convolution did not come to an end (%s)."
                             : "The library was loaded, but its convolution is wrong (%s).", text);
    } else if (answer == 1) {
        snprintf(text, sizeof text, "right: relative error %s against sums in double", norm);
        verify_fact(v, level, "convolution", text);
    }
    process_free(&child);
    return answer;
}

/* Milliseconds of one call; 0 where it failed, the whole limit where that was over before. */
static double time_one(const char *const *argv, double seconds, char *why, size_t size)
{
    process child;
    char text[40];
    double ms = 0;

    *why = 0;
    /* OpenMP's threads spin at their barriers by default: with other work on the cores that measures the other work. */
    static const char *const calm[] = { "OMP_WAIT_POLICY=passive", NULL };
    if (process_run(&child, argv, calm, seconds) != 0)
        return 0;
    const char *line = process_wait_for(&child, "time,");
    if (line && strcmp(cell(line, CELL_VERDICT, text, sizeof text), "pass") == 0)
        ms = atof(cell(line, CELL_MS, text, sizeof text));
    else if (child.late)
        ms = seconds * 1000;
    else
        first_line(&child.errors, why, size);
    process_free(&child);
    return ms;
}

static void judge_speed(verify *v, verify_level *level, double with, double without)
{
    char text[160];

    snprintf(text, sizeof text, "%.3f ms with it, %.3f ms for the plain loop: %.1f times as fast (at least %.0f is wanted)", with, without, without / with,
             threshold);
    verify_fact(v, level, "speed", text);
    cJSON_AddNumberToObject(level->json, "speed_up", without / with);
    cJSON_AddNumberToObject(level->json, "threshold", threshold);
    if (without / with < threshold)
        verify_finding(v, CLI_ERROR, "slow",
                       v->file.is_ours ? "Its tuned engines are not in use: on a machine without a GPU it needs oneDNN (libdnnl.so), and "
                                         "ANYDNN_ENGINE must not be set to ref. A machine that is busy with other work looks the same."
                                       : "It is loaded and right, but not at work on this machine's GPU as it should be, or the machine is busy.",
                       v->file.is_ours ? "apt-get install libdnnl3    # or dnf install onednn" : NULL,
                       "The library is loaded and right, but slow: %.1f times a plain loop, and %.0f is the least.", without / with, threshold);
}

/* The best of a few short runs for each, in turn: other work on the machine makes a run slower, never faster. Ends early where it is clear. */
static void time_both(verify *v, verify_level *level, const char *dnbench)
{
    const char *with[] = { dnbench, "time", "--lib", v->place.file, "--csv", "-", "--seconds", "0.3", problem, NULL };
    const char *without[] = { dnbench, "time", "--engine", "ref", "--filter", plain_row, "--csv", "-", "--seconds", "0.3", CONVOLUTION, NULL };
    double best = 0, plain = 0, limit = process_now() + RACE;
    char why[300];

    for (int i = 0; i < TRIES && process_now() < limit; i++) {
        double ms = time_one(with, RUN, why, sizeof why);
        if (ms <= 0)
            break;
        best = best > 0 && best < ms ? best : ms;
        ms = time_one(without, PLAIN_RUN, why, sizeof why);
        if (ms <= 0)
            break;
        plain = plain > 0 && plain < ms ? plain : ms;
        if (plain / best >= threshold)
            break;
    }
    if (best > 0 && plain > 0)
        judge_speed(v, level, best, plain);
    else
        verify_finding(v, CLI_ERROR, "not-timed", why, NULL, "The convolution with %s could not be timed.", best > 0 ? "the plain loop" : v->place.file);
}

void verify_speed(verify *v)
{
    verify_level level = verify_begin(v, "speed", "Level 3, speed: one convolution, checked and timed");
    char *dnbench = worker_path();
    const char *skipped = NULL;

    if (!dnbench)
        skipped = "dnbench is neither beside this tool nor in ../libexec/anydnn";
    else {
        verify_fact(v, &level, "problem", problem);
        if (check_result(v, &level, dnbench, &skipped) == 1)
            time_both(v, &level, dnbench);
    }
    free(dnbench);
    verify_end(v, &level, skipped, proves, proves_not);
}
