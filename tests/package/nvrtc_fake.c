/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Stands for libnvrtc in nvrtc.sh: its "code" says which toolkit made it, and for what. VERSION: 11080 for 11.8; ARCHS: what it knows. */
#include <stdio.h>
#include <string.h>

static const int archs[] = { ARCHS };
static char code[96], target[64], log_text[64];

int nvrtcVersion(int *major, int *minor);
int nvrtcGetNumSupportedArchs(int *n);
int nvrtcGetSupportedArchs(int *out);
int nvrtcCreateProgram(void **program, const char *source, const char *name, int headers, const char *const *texts, const char *const *names);
int nvrtcCompileProgram(void *program, int n, const char *const *options);
int nvrtcGetProgramLogSize(void *program, size_t *size);
int nvrtcGetProgramLog(void *program, char *log);
int nvrtcGetCUBINSize(void *program, size_t *size);
int nvrtcGetCUBIN(void *program, char *out);
int nvrtcGetPTXSize(void *program, size_t *size);
int nvrtcGetPTX(void *program, char *out);
const char *nvrtcGetErrorString(int rc);

int nvrtcVersion(int *major, int *minor)
{
    *major = VERSION / 1000;
    *minor = VERSION % 1000 / 10;
    return 0;
}

int nvrtcGetNumSupportedArchs(int *n)
{
    *n = (int)(sizeof archs / sizeof *archs);
    return 0;
}

int nvrtcGetSupportedArchs(int *out)
{
    memcpy(out, archs, sizeof archs);
    return 0;
}

int nvrtcCreateProgram(void **program, const char *source, const char *name, int headers, const char *const *texts, const char *const *names)
{
    (void)name, (void)headers, (void)texts, (void)names;
    *program = code;
    strcpy(log_text, strstr(source, "make it warn") ? "x.cu(1): warning: as asked" : "");
    return strstr(source, "make it fail") ? 6 : 0;
}

int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
    (void)program;
    for (int i = 0; i < n; i++)
        sscanf(options[i], "--gpu-architecture=%63s", target);
    snprintf(code, sizeof code, "%s by %d", target, VERSION);
    return 0;
}

int nvrtcGetProgramLogSize(void *program, size_t *size)
{
    (void)program;
    *size = sizeof log_text;
    return 0;
}

int nvrtcGetProgramLog(void *program, char *log)
{
    (void)program;
    memcpy(log, log_text, sizeof log_text);
    return 0;
}

int nvrtcGetCUBINSize(void *program, size_t *size)
{
    (void)program;
    *size = strlen(code);
    return 0;
}

int nvrtcGetCUBIN(void *program, char *out)
{
    (void)program;
    memcpy(out, code, strlen(code));
    return 0;
}

int nvrtcGetPTXSize(void *program, size_t *size)
{
    (void)program;
    *size = strlen(code) + 1;
    return 0;
}

int nvrtcGetPTX(void *program, char *out)
{
    (void)program;
    strcpy(out, code);
    return 0;
}

const char *nvrtcGetErrorString(int rc)
{
    return rc == 6 ? "the fake's error" : "?";
}
