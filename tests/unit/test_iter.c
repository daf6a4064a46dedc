/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The walk of several strided tensors in step, against an index computed for each element on its own. */
#include "ref/ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Offset in scalars of logical element i of a walk with dims `dims` in t, whose dimensions of size 1 are broadcast. */
static int64_t offset_of(const dn_tensor *t, const int64_t *dims, int rank, int64_t i)
{
    int64_t offset = 0, vect = t->vect > 1 ? t->vect : 1;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t at = i % dims[d];
        i /= dims[d];
        if (d >= t->rank || t->dims[d] == 1)
            continue;
        if (vect > 1 && d == t->vect_dim)
            offset += at / vect * t->strides[d] * vect + at % vect;
        else
            offset += at * t->strides[d] * vect;
    }
    return offset;
}

static void visits_all_in_order(const dn_tensor *const *t, int count)
{
    dn_iter it;
    int64_t n = dn_tensor_count(t[0]);
    dn_iter_init(&it, count, t);
    assert_int_equal(it.rows * it.n, n);
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++, dn_iter_next(&it)) {
        dn_iter there = it;
        dn_iter_seek(&there, row);
        for (int k = 0; k < count; k++) {
            assert_int_equal(it.offset[k], there.offset[k]);
            for (int64_t j = 0; j < it.n; j++)
                assert_int_equal(it.offset[k] + j * it.stride[k], offset_of(t[k], t[0]->dims, t[0]->rank, row * it.n + j));
        }
    }
}

/* In any order: the same tuples of offsets, each once. Offsets of t[0] are all different here. */
static void visits_all(const dn_tensor *const *t, int count)
{
    dn_iter it;
    int64_t n = dn_tensor_count(t[0]), seen = 0;
    dn_iter_init_any_order(&it, count, t);
    assert_int_equal(it.rows * it.n, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t want = offset_of(t[0], t[0]->dims, t[0]->rank, i);
        dn_iter_seek(&it, 0);
        for (int64_t row = 0; row < it.rows; row++, dn_iter_next(&it))
            for (int64_t j = 0; j < it.n; j++)
                if (it.offset[0] + j * it.stride[0] == want) {
                    seen++;
                    for (int k = 1; k < count; k++)
                        assert_int_equal(it.offset[k] + j * it.stride[k], offset_of(t[k], t[0]->dims, t[0]->rank, i));
                }
    }
    assert_int_equal(seen, n);
}

static dn_tensor random_tensor(uint32_t *seed, int rank, const int64_t *dims, bool first)
{
    dn_tensor t = { .type = DN_F32, .rank = (uint8_t)rank, .vect = 1 };
    int64_t step = 1;
    for (int d = 0; d < rank; d++)
        t.dims[d] = !first && next(seed) % 4 == 0 ? 1 : dims[d];
    for (int k = 0; k < rank; k++) {
        int d = next(seed) % 2 ? rank - 1 - k : k;  /* two orders mixed: some dimensions get their stride twice */
        t.strides[d] = next(seed) % 5 == 0 ? -step : step;
        step *= t.dims[d] + (next(seed) % 3 == 0);
    }
    for (int d = 0; d < rank; d++)
        if (t.strides[d] == 0) {
            t.strides[d] = step;
            step *= t.dims[d];
        }
    return t;
}

static void random_shapes(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int round = 0; round < 400; round++) {
        int rank = 1 + (int)(next(&seed) % 8), count = 1 + (int)(next(&seed) % DN_ITER_MAX);
        int64_t dims[DN_RANK_MAX];
        dn_tensor t[DN_ITER_MAX];
        const dn_tensor *list[DN_ITER_MAX];
        for (int d = 0; d < rank; d++)
            dims[d] = 1 + next(&seed) % (rank > 5 ? 2 : 4);
        for (int k = 0; k < count; k++) {
            t[k] = random_tensor(&seed, rank, dims, k == 0);
            list[k] = &t[k];
        }
        visits_all_in_order(list, count);
    }
}

static dn_tensor tensor(int n, int c, int h, int w, int type, bool nhwc)
{
    dn_tensor t = { .type = (uint8_t)type, .rank = 4, .vect = (uint8_t)dn_dtype_vector((dn_dtype)type), .vect_dim = 1,
                    .dims = { n, c, h, w } };
    assert_true(nhwc ? dn_tensor_pack_nhwc(&t) : dn_tensor_pack(&t));
    return t;
}

static void packed_tensors_are_one_row(void **state)
{
    (void)state;
    dn_tensor a = tensor(2, 3, 4, 5, DN_F32, false), b = tensor(2, 3, 4, 5, DN_F32, true);
    const dn_tensor *same[] = { &a, &a }, *last[] = { &b, &b }, *mixed[] = { &a, &b };
    dn_iter it;
    dn_iter_init(&it, 2, same);
    assert_int_equal(it.rows, 1);
    assert_int_equal(it.n, 120);
    dn_iter_init_any_order(&it, 2, last);
    assert_int_equal(it.rows, 1);
    assert_int_equal(it.n, 120);
    visits_all(same, 2);
    visits_all(last, 2);
    visits_all(mixed, 2);
    visits_all_in_order(last, 2);
    visits_all_in_order(mixed, 2);
}

static void vectors_are_split(void **state)
{
    (void)state;
    dn_tensor plain = tensor(2, 64, 2, 3, DN_I8, false), x4 = tensor(2, 64, 2, 3, DN_I8X4, false);
    dn_tensor x32 = tensor(2, 64, 2, 3, DN_I8X32, false), bias = tensor(1, 64, 1, 1, DN_F32, false);
    const dn_tensor *a[] = { &plain, &x4, &x32, &bias }, *b[] = { &x32, &plain }, *c[] = { &x4, &x4 };
    visits_all_in_order(a, 4);
    visits_all_in_order(b, 2);
    visits_all_in_order(c, 2);
    visits_all(b, 2);
    dn_iter it;
    dn_iter_init_any_order(&it, 2, c);
    assert_int_equal(it.rows, 1);
}

static void a_part_full_vector_is_walked_whole(void **state)
{
    (void)state;
    dn_tensor t = tensor(1, 6, 1, 5, DN_I8X4, false);
    const dn_tensor *list[] = { &t, &t };
    dn_iter it;
    dn_iter_init(&it, 2, list);
    assert_int_equal(it.rows * it.n, 8 * 5);
}

static void one_element(void **state)
{
    (void)state;
    dn_tensor t = tensor(1, 1, 1, 1, DN_F64, false);
    const dn_tensor *list[] = { &t, &t, &t };
    visits_all_in_order(list, 3);
    visits_all(list, 3);
}

typedef struct marks {
    unsigned char *seen;
    int64_t count;
} marks;

static void mark(void *ctx, const dn_piece *p)
{
    marks *m = ctx;
    for (int64_t j = 0; j < p->n; j++) {
        int64_t at = p->offset[0] + j * p->stride[0];
        m->seen[at] += at == p->first + j;  /* packed: the offset is the logical number */
    }
}

static void pieces_cover_all_once(void **state)
{
    (void)state;
    dn_tensor t = tensor(3, 7, 101, 60, DN_F32, false);
    dn_tensor u = t;
    u.strides[0] += 5;  /* keeps the rows apart */
    const dn_tensor *one[] = { &t }, *two[] = { &t, &u };
    for (int k = 0; k < 4; k++) {
        marks m = { calloc((size_t)dn_tensor_count(&t), 1), dn_tensor_count(&t) };
        dn_iter it;
        dn_iter_init(&it, 1 + k % 2, k % 2 ? two : one);
        if (k < 2)
            dn_iter_run(&it, mark, &m);
        else
            dn_iter_run_costly(&it, 7, 100, mark, &m);
        for (int64_t i = 0; i < m.count; i++)
            assert_int_equal(m.seen[i], 1);
        free(m.seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_shapes),
        cmocka_unit_test(packed_tensors_are_one_row),
        cmocka_unit_test(vectors_are_split),
        cmocka_unit_test(a_part_full_vector_is_walked_whole),
        cmocka_unit_test(one_element),
        cmocka_unit_test(pieces_cover_all_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
