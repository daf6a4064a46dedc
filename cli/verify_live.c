/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * `verify --pid` and `verify --python`: what processes that are no child of ours by design, or a framework, really have loaded. */
#define _GNU_SOURCE
#include "verify.h"
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IMPORT_SECONDS = 240, FIND_SECONDS = 30 };

static const char proves[] = "the process has this libcudnn in its map now, with all its parts from one place";
static const char proves_not[] = "what it opens later (parts come with the first call that needs them), or that it computes right (level 3)";

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* Number behind "PPid:" in a status file, 0 where it is not known. */
static long parent_of(const char *pid)
{
    char *path = cli_format("/proc/%s/status", pid), *text;
    size_t size;
    const char *at;
    long parent = 0;

    text = path ? tree_read("", path, 1 << 20, &size) : NULL;
    at = text ? strstr(text, "\nPPid:") : NULL;
    if (at)
        parent = strtol(at + 6, NULL, 10);
    free(text);
    free(path);
    return parent;
}

/* First address of a mapped file whose name starts so; "" where there is none. */
static void address_of(const char *pid, const char *name, char *out, size_t size)
{
    char *path = cli_format("/proc/%s/maps", pid), *text, *line;
    size_t length;

    *out = 0;
    text = path ? tree_read("", path, 1 << 26, &length) : NULL;
    for (line = text; line && *line && !*out; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *slash = memrchr(line, '/', strcspn(line, "\n"));
        if (slash && strncmp(slash + 1, name, strlen(name)) == 0)
            snprintf(out, size, "%.*s", (int)strcspn(line, "-"), line);
    }
    free(text);
    free(path);
}

/* The driver's library at the same address in parent and child: the child was forked after it was loaded. Two loads would not meet, since the
 * addresses are random. CUDA does not work in such a child once the parent had initialised it. */
static void judge_fork(verify *v, const char *pid)
{
    char here[32], there[32], parent[24];

    snprintf(parent, sizeof parent, "%ld", parent_of(pid));
    address_of(pid, "libcuda.so", here, sizeof here);
    address_of(parent, "libcuda.so", there, sizeof there);
    if (*here && strcmp(here, there) == 0)
        verify_finding(v, CLI_WARNING, "forked-with-cuda",
                       "Where the parent had used CUDA before (one call such as cudaFree(0) is enough), cudnnCreate answers NOT_INITIALIZED or "
                       "INTERNAL_ERROR in this process: CUDA does not outlive a fork.",
                       "start workers with spawn instead of fork (Python: multiprocessing.set_start_method(\"spawn\"))",
                       "Process %s was forked from %s when libcuda was already loaded there.", pid, parent);
}

/* The library at the end of a level: in the map or not. */
static void judge_pid(verify *v, verify_level *level, const char *pid)
{
    maps m;

    if (verify_read_maps(&m, pid) != 0) {
        verify_finding(v, CLI_ERROR, "no-map", "There is no such process, or it is another user's.", NULL, "/proc/%s/maps cannot be read.", pid);
    } else if (!verify_judge_maps(v, &m, cJSON_AddArrayToObject(level->json, "loaded"))) {
        verify_finding(v, CLI_ERROR, "not-loaded", "cuDNN is often opened late, at the first call; ask again after that call.", NULL,
                       "Process %s has not loaded %s.", pid, v->place.file ? v->place.file : "a libcudnn");
    }
    maps_free(&m);
}

int verify_pid(verify *v)
{
    verify_level level;

    if (!is_number(v->pid))
        return cli_usage("verify", "--pid needs a number, got \"%s\"", v->pid);
    level = verify_begin(v, "pid", "A running process");
    verify_fact(v, &level, "pid", v->pid);
    judge_pid(v, &level, v->pid);
    judge_fork(v, v->pid);
    verify_end(v, &level, NULL, proves, proves_not);
    return CLI_GOOD;
}

/* --- Python --- */

static const struct framework {
    const char *name, *module, *code;
} frameworks[] = {
    { "PyTorch", "torch", "import torch; say(torch.__version__, getattr(getattr(torch.backends, 'cudnn', None), 'version', lambda: None)())" },
    { "TensorFlow", "tensorflow", "import tensorflow as t; t.config.list_physical_devices('GPU'); say(t.__version__)" },
    { "JAX", "jax", "import jax; jax.devices(); say(jax.__version__)" },
    { "ONNX Runtime", "onnxruntime", "import onnxruntime as o; say(o.__version__, o.get_available_providers())" },
    { "CuPy", "cupy", "import cupy; from cupy_backends.cuda.libs import cudnn; say(cupy.__version__, cudnn.getVersion())" },
    { "Paddle", "paddle", "import paddle; say(paddle.__version__, paddle.version.cudnn())" },
};

enum { FRAMEWORKS = sizeof frameworks / sizeof *frameworks };

/* Waits so that its map can be read. */
static const char prologue[] = "import sys\n"
                               "def say(*a):\n"
                               "    print('answer', *a, flush=True)\n"
                               "    print('ready', flush=True)\n"
                               "    sys.stdin.readline()\n";

static char *python_program(const verify *v)
{
    char *path;

    if (!v->python || !*v->python)
        return process_find("python3");
    path = tree_join(v->python, "bin/python3");
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return process_find(v->python);
}

/* Modules that this Python can find, as a bit each; -1 where it cannot be asked. */
static int modules_of(verify *v, const char *python)
{
    char code[600] = "import importlib.util as u\nfor m in (";
    process child;
    int found = -1;

    for (int i = 0; i < FRAMEWORKS; i++)
        snprintf(code + strlen(code), sizeof code - strlen(code), "'%s',", frameworks[i].module);
    snprintf(code + strlen(code), sizeof code - strlen(code), "):\n    print(m if u.find_spec(m) else '-')\n");
    const char *argv[] = { python, "-c", code, NULL };
    if (process_run(&child, argv, NULL, FIND_SECONDS) == 0 && child.code == 0) {
        found = 0;
        for (int i = 0; i < FRAMEWORKS; i++) {
            char line[40];
            snprintf(line, sizeof line, "%s\n", frameworks[i].module);
            found |= process_wait_for(&child, line) || (child.output.text && strstr(child.output.text, line)) ? 1 << i : 0;
        }
    } else {
        verify_finding(v, CLI_ERROR, "no-python", child.errors.text ? child.errors.text : "", NULL, "%s does not run.", python);
    }
    process_free(&child);
    return found;
}

static void last_line(const char *text, char *out, size_t size)
{
    const char *at = text ? text + strlen(text) : "", *end;

    while (text && at > text && at[-1] == '\n')
        at--;
    end = at;
    while (text && at > text && at[-1] != '\n')
        at--;
    snprintf(out, size, "%.*s", (int)(end - at), at);
}

static void ask_framework(verify *v, const char *python, const char *name, const char *body)
{
    char *title = cli_format("%s in %s", name, python), *code = cli_format("%s%s\n", prologue, body), pid[24], text[400], how[120];
    const char *argv[] = { python, "-c", code, NULL };
    verify_level level = verify_begin(v, "python", title ? title : name);
    process child;

    cJSON_AddStringToObject(level.json, "framework", name);
    if (!code || process_begin(&child, argv, NULL, IMPORT_SECONDS) != 0) {
        verify_finding(v, CLI_ERROR, "no-python", strerror(errno), NULL, "%s does not run.", python);
    } else {
        if (process_wait_for(&child, "ready")) {
            const char *line = process_wait_for(&child, "answer ");
            snprintf(text, sizeof text, "%.*s", line ? (int)strcspn(line + 7, "\n") : 0, line ? line + 7 : "");
            verify_fact(v, &level, "answer", text);
            snprintf(pid, sizeof pid, "%d", (int)child.pid);
            judge_pid(v, &level, pid);
            process_end(&child);
        } else {
            process_end(&child);
            last_line(child.errors.text, text, sizeof text);
            verify_finding(v, CLI_ERROR, "import-failed", text, NULL, "%s cannot be imported: %s.", name, process_how(&child, how));
            verify_judge_texts(v, child.errors.text);
        }
        process_free(&child);
    }
    verify_end(v, &level, NULL, proves, proves_not);
    free(title);
    free(code);
}

int verify_python(verify *v)
{
    char *python = python_program(v);
    int found;

    if (!python) {
        cli_problem("anydnn verify: %s is no Python, and there is no python3 in PATH", v->python ? v->python : "python3");
        return CLI_CANNOT_READ;
    }
    found = modules_of(v, python);
    for (int i = 0; i < FRAMEWORKS && found > 0; i++)
        if (found & 1 << i)
            ask_framework(v, python, frameworks[i].name, frameworks[i].code);
    if (found == 0)
        ask_framework(v, python, "ctypes (no framework that is known here)",
                      "import ctypes\n"
                      "for n in ('libcudnn.so.9', 'libcudnn.so.8'):\n"
                      "    try:\n"
                      "        say(ctypes.CDLL(n).cudnnGetVersion()); break\n"
                      "    except OSError as e:\n"
                      "        print(e, file=sys.stderr)\n");
    free(python);
    return CLI_GOOD;
}
