/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The prototypes of data/api/functions.tsv as data: what kind each argument is. */
#ifndef PROTOTYPES_H
#define PROTOTYPES_H

#define PROTO_ARGS_MAX 40

typedef enum arg_kind { ARG_OBJECT, ARG_POINTER, ARG_ENUM, ARG_INT, ARG_FLOAT, ARG_DOUBLE } arg_kind;

typedef struct proto_arg {
    arg_kind kind;
    char type[48];  /* "cudnnTensorDescriptor_t" without const and * */
    char name[48];
} proto_arg;

typedef struct proto {
    char name[80];
    int returns_status;
    int count;
    proto_arg arg[PROTO_ARGS_MAX];
} proto;

/* All functions of this ABI in the table at path; answers the count, -1 where the file cannot be read. *out is malloc'd. */
int protos_read(const char *path, proto **out);

#endif
