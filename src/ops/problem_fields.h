/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the words of a problem's line stand for: tables that src/ops/problem.c prints by and src/ops/problem_parse.c reads by. */
#ifndef DN_OPS_PROBLEM_FIELDS_H
#define DN_OPS_PROBLEM_FIELDS_H

#include "ops/problem.h"

/* DIMS: batch and channel, then spatial */
typedef enum dn_field_kind { DN_FIELD_INT, DN_FIELD_SPATIAL, DN_FIELD_DIMS, DN_FIELD_REAL, DN_FIELD_NAME } dn_field_kind;

/* One word key=value of an operation's parameters. */
typedef struct dn_field {
    const char *key;
    dn_field_kind kind;
    uint16_t offset;             /* into dn_problem.u */
    uint16_t count_offset;       /* SPATIAL, DIMS: where the number of spatial dimensions stands */
    double standard;             /* left out of the line where the value is this */
    const char *const *names;    /* NAME: by value, ended by NULL */
    bool fused_only;             /* a word of DN_OP_CONV_BIAS_ACT alone */
} dn_field;

typedef struct dn_op_info {
    const char *name;
    const dn_field *fields;      /* ended by a key of NULL */
    dn_status (*check)(const dn_problem *p);
} dn_op_info;

typedef struct dn_flag_word {
    const char *word;
    uint16_t flag;
} dn_flag_word;

#define DN_MATH_WORDS 4
#define DN_FLAG_WORDS 3

extern const dn_op_info dn_ops[DN_OP_COUNT];
extern const char *const dn_dir_words[DN_DIR_COUNT];
extern const char *const dn_role_words[DN_ROLE_COUNT];
extern const char *const dn_math_words[DN_MATH_WORDS];
extern const dn_flag_word dn_flag_words[DN_FLAG_WORDS];

const void *dn_field_at(const dn_problem *p, size_t offset);
int32_t dn_field_int(const dn_problem *p, size_t offset);
int dn_field_names(const dn_field *f);  /* how many names a NAME has */
/* How many numbers a SPATIAL or DIMS word has, of those that there is room for. */
int dn_field_length(const dn_problem *p, const dn_field *f);

#endif
