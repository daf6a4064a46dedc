/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Problem lines both ways, the key of the plan cache, questions about tensors. */
#include "ops/problem.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Each is what the printer gives for what the parser read. */
static const char *const lines[] = {
    "conv fwd x=n16c64h56w56:f16:nhwc y=n16c64h56w56:f16:nhwc w=k64c64r3s3:f16:nhwc pad=1",
    "conv fwd x=n2c4h9w7:f32:nchw y=n2c6h5w3:f32:nchw w=k6c2r3s2:f32:nchw pad=1x0 str=2 grp=2 mode=conv",
    "conv bwd_data x=n1c3d4h5w6:f64:nchw y=n1c2d4h5w6:f64:nchw w=k2c3t1r1s1:f64:nchw comp=f64 algo#=1",
    "conv bwd_filter x=n2c4w19:bf16:nchw y=n2c4w15:bf16:nchw w=k4c4s3:bf16:nchw dil=2 math=tensor beta0",
    "conv bwd_bias y=n2c4h8w8:f32:nhwc b=n1c4h1w1:f32:nchw",
    "convba fwd x=n1c8h4w4:f32:nchw y=n1c8h4w4:f32:nchw w=k8c8r1s1:f32:nchw z=n1c8h4w4:f32:nchw b=n1c8h1w1:f32:nchw act=identity algo#=1",
    "pool fwd x=n2c3h8w8:f32:nchw y=n2c3h4w4:f32:nchw mode=avg win=2 str=2",
    "act fwd x=n2c3h8w8:f32:nchw@4 y=n2c3h8w8:f32:2000,-300,20,1@1 act=elu coef=0.5",
    "softmax fwd x=n2c10h1w1:f32:nchw y=n2c10h1w1:f32:nchw algo=log mode=channel",
    "ctc fwd x=n9c7w4:f32:nchw dx=n9c7w4:f32:nchw norm=none skip=1 labels=8 host=1",
    "bn train x=n8c4h2w2:f16:nhwc y=n8c4h2w2:f16:nhwc w=k1c4r1s1:f32:nchw",
    "bn bwd x=n8c4h2w2:f64:nhwc w=k1c4r1s1:f64:nchw dx=n8c4h2w2:f64:nchw dy=n8c4h2w2:f64:nhwc dz=n8c4h2w2:f64:nchw ops=addact act=crelu nan=pass coef=6 comp=f64",
    "lrn bwd_data x=n2c9h3w3:f16:nhwc y=n2c9h3w3:f16:nchw dx=n2c9h3w3:f16:nhwc dy=n2c9h3w3:f16:nchw n=4 beta=0.5 k=1",
    "divnorm fwd x=n2c3h8w8:f32:nchw y=n2c3h8w8:f32:nhwc b=n2c3h8w8:f32:nchw alpha=1",
    "stgrid fwd x=n2c2w3:f32:nchw y=n2c5h4w2:f32:nchw",
    "stsample fwd x=n2c3h8w8:f32:nchw y=n2c3h5w4:f32:nchw b=n2c5h4w2:f32:nchw",
    "add fwd x=n1c4h1w1:f32:nchw y=n2c4h8w8:f32:nchw",
    "scale fwd y=n2c4h8w8:f32:nchw inplace",
    "transform fwd x=n2c3h4w5:f32:nchw y=n2c3h4w5:f16:nhwc det",
};

static void lines_go_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        dn_problem p, q;
        char text[1024];
        if (dn_problem_parse(lines[i], &p) != DN_SUCCESS)
            fail_msg("%s\n%s", lines[i], dn_error_text());
        int n = dn_problem_print(&p, text, sizeof text);
        /* comp is printed when it is not f32, tensors stand in the order of roles */
        assert_int_equal(n, strlen(text));
        assert_int_equal(dn_problem_parse(text, &q), DN_SUCCESS);
        assert_true(dn_problem_equal(&p, &q));
        assert_true(dn_problem_hash(&p) == dn_problem_hash(&q));
        assert_string_equal(text, lines[i]);
    }
}

/* A host program may run in a locale with a decimal comma; the line is the same text everywhere. */
static void lines_do_not_follow_the_locale(void **state)
{
    (void)state;
    static const char line[] = "act fwd x=n1c1h1w1:f32:nchw y=n1c1h1w1:f32:nchw act=elu coef=0.5";
    char text[256];
    dn_problem p;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        skip();
    assert_int_equal(dn_problem_parse(line, &p), DN_SUCCESS);
    assert_true(p.u.act.coef == 0.5);
    dn_problem_print(&p, text, sizeof text);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, line);
}

static void a_short_buffer_is_cut_and_the_length_told(void **state)
{
    (void)state;
    dn_problem p;
    char full[1024], cut[10];
    assert_int_equal(dn_problem_parse(lines[0], &p), DN_SUCCESS);
    int n = dn_problem_print(&p, full, sizeof full);
    assert_int_equal(dn_problem_print(&p, cut, sizeof cut), n);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    assert_memory_equal(cut, full, sizeof cut - 1);
}

static void bad_lines_name_the_word(void **state)
{
    (void)state;
    static const struct { const char *line, *part; } bad[] = {
        { "", "no such operation" },
        { "conf fwd", "conf" },
        { "conv sideways", "sideways" },
        { "conv fwd x=n1c1h1w1:f99:nchw", "no such type" },
        { "conv fwd x=n1c1h1w1", "dims:type:layout" },
        { "conv fwd x=n1c0h1w1:f32", "dims:type:layout" },
        { "conv fwd x=n1c1h1w1:f32:1,2,3", "one stride per dimension" },
        { "conv fwd x=n1c1h1w1:f32:nchw@3", "alignment" },
        { "conv fwd x=n1c1h99999999999999999999w1:f32", "dims:type:layout" },
        { "pool fwd x=n1c1h4w4:f32 y=n1c1h4w4:f32 win=1x1x1", "win" },
        { "pool fwd x=n1c1h4w4:f32 y=n1c1h4w4:f32 win=1 mode=most", "no such value" },
        { "pool fwd x=n1c1h4w4:f32 y=n1c1h4w4:f32 win=1 grp=2", "no such word" },
        { "conv fwd x=n1c4h4w4:f32 w=k4c3r1s1:f32 y=n1c4h4w4:f32", "channel" },
        { "act fwd x=n1c4h4w4:f32 y=n1c4h4w4:f32 coef=1z", "wants a number" },
        { "act fwd x=n1c4h4w4:f32 y=n1c4h4w4:f32 nonsense", "key=value" },
        { "act fwd x=n1c4h4w4:f32 y=n1c4d4h4w4:f32 y=n1c4h4w4:f32", "given already" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dn_problem p;
        dn_error_clear();
        if (dn_problem_parse(bad[i].line, &p) == DN_SUCCESS)
            fail_msg("accepted: %s", bad[i].line);
        if (!strstr(dn_error_text(), bad[i].part))
            fail_msg("%s\nhas text: %s", bad[i].line, dn_error_text());
    }
}

/* Any change of any field is another problem. */
static void the_key_sees_every_byte(void **state)
{
    (void)state;
    dn_problem p;
    assert_int_equal(dn_problem_parse(lines[1], &p), DN_SUCCESS);
    uint64_t h = dn_problem_hash(&p);
    for (size_t i = 0; i < sizeof p; i++) {
        dn_problem q = p;
        ((unsigned char *)&q)[i] ^= 1;
        assert_false(dn_problem_equal(&p, &q));
        assert_true(dn_problem_hash(&q) != h);
    }
}

static dn_tensor tensor(const char *text)
{
    char line[256] = "scale fwd y=";
    dn_problem p;
    strcat(line, text);
    if (dn_problem_parse(line, &p) != DN_SUCCESS)
        fail_msg("%s: %s", text, dn_error_text());
    return p.t[DN_Y];
}

static void tensors_answer_about_their_layout(void **state)
{
    (void)state;
    static const struct { const char *text; bool packed, nhwc, dense; int64_t lo, hi; } cases[] = {
        { "n2c3h4w5:f32:nchw", true, false, true, 0, 119 },
        { "n2c3h4w5:f32:nhwc", false, true, true, 0, 119 },
        { "n2c1h4w5:f32:nchw", true, true, true, 0, 39 },
        { "n2c3h4w5:f32:60,20,5,-1", false, false, false, -4, 115 },
        { "n2c3h4w5:f32:200,20,5,1", false, false, false, 0, 259 },
        { "n2c3h4w5:f32:1,2,6,24", false, false, true, 0, 119 },
        { "n1c3h1w1:f32:77,1,9,9", true, true, true, 0, 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dn_tensor t = tensor(cases[i].text);
        int64_t lo, hi;
        assert_true(dn_tensor_span(&t, &lo, &hi));
        if (dn_tensor_is_packed(&t) != cases[i].packed || dn_tensor_is_packed_nhwc(&t) != cases[i].nhwc ||
            dn_tensor_is_dense(&t) != cases[i].dense || lo != cases[i].lo || hi != cases[i].hi)
            fail_msg("%s: packed %d, nhwc %d, dense %d, span %lld to %lld", cases[i].text, dn_tensor_is_packed(&t),
                     dn_tensor_is_packed_nhwc(&t), dn_tensor_is_dense(&t), (long long)lo, (long long)hi);
    }
}

static void overflow_is_seen(void **state)
{
    (void)state;
    dn_tensor t = { .type = DN_F32, .rank = 4, .vect = 1, .dims = { INT32_MAX, INT32_MAX, INT32_MAX, 2 } };
    assert_false(dn_tensor_pack(&t));
    assert_false(dn_tensor_pack_nhwc(&t));
    int64_t lo, hi;
    for (int i = 0; i < 4; i++)
        t.strides[i] = INT64_MAX / 2;
    assert_false(dn_tensor_span(&t, &lo, &hi));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_both_ways),
        cmocka_unit_test(lines_do_not_follow_the_locale),
        cmocka_unit_test(a_short_buffer_is_cut_and_the_length_told),
        cmocka_unit_test(bad_lines_name_the_word),
        cmocka_unit_test(the_key_sees_every_byte),
        cmocka_unit_test(tensors_answer_about_their_layout),
        cmocka_unit_test(overflow_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
