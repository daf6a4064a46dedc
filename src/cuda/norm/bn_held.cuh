/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the batch normalisation kernels that hold their input in shared memory have in common. A group of channels lies side by side in an
 * image and makes whole vectors, whatever the size of its planes; part r of a group has part r of the vectors of all images, counted one
 * image after the other. In a group of several channels a thread always meets the same place of an image, so at most two channels. */
#ifndef DN_CUDA_NORM_BN_HELD_CUH
#define DN_CUDA_NORM_BN_HELD_CUH

#include "cuda/norm/bn_fast.cuh"

enum { HELD_TENSORS = KIND == DN_BN_BWD ? 2 : 1 };

/* Where a thread is. */
typedef struct held_spot {
    int first, count;     /* vectors of the block's part, counted over the images */
    int n, i, dn, di;     /* image and vector in it of the thread's first; what a step adds */
    int c0, c1, lim;      /* channels in the group of the vector's elements: c1 from element lim on */
    dn_s64 base;          /* first element of the group in image 0 */
    int channel;          /* first channel of the group */
} held_spot;

/* Thread t of those that work on part `part` of a group. */
DN_FN held_spot held_spot_of(const dn_bn_held *p, int group, int part, int t)
{
    held_spot s;
    dn_s64 all = (dn_s64)p->f.n * p->run;
    s.first = (int)(all * part / p->parts);
    s.count = (int)(all * (part + 1) / p->parts) - s.first;
    s.channel = group * p->group;
    s.base = (dn_s64)s.channel * p->f.hw;
    s.n = (s.first + t) / p->run;
    s.i = (s.first + t) % p->run;
    s.dn = p->step / p->run;
    s.di = p->step % p->run;
    s.c0 = p->group > 1 ? s.i * DN_VN / p->f.hw : 0;
    s.c1 = s.c0 + 1 < p->group ? s.c0 + 1 : s.c0;
    s.lim = p->group > 1 ? (s.c0 + 1) * p->f.hw - s.i * DN_VN : DN_VN;
    return s;
}

/* First element of the thread's vector; goes on to the next one. */
DN_FN dn_s64 held_next(const dn_bn_held *p, const held_spot *s, int *n, int *i)
{
    dn_s64 at = s->base + *n * p->f.image + (dn_s64)*i * DN_VN;
    *n += s->dn;
    *i += s->di;
    if (*i >= p->run) {
        *i -= p->run;
        ++*n;
    }
    return at;
}

/* Adds the vector to the sums of its channels: of two where TWO. */
template <int TWO> DN_FN void held_add(int lim, float shift0, float shift1, const float *f, const float *g, float *sum)
{
#pragma unroll
    for (int e = 0; e < DN_VN; e++) {
        bool second = TWO && e >= lim;
        float d = f[e] - (second ? shift1 : shift0), v = KIND == DN_BN_BWD ? g[e] : d;
        sum[0] += second ? 0.0f : v;
        sum[1] = fmaf(second ? 0.0f : v, d, sum[1]);
        if (TWO) {
            sum[2] += second ? v : 0.0f;
            sum[3] = fmaf(second ? v : 0.0f, d, sum[3]);
        }
    }
}

/* The sums of channel c of the group over threads that left theirs in all[4][threads]; every lane of the warp gets them. */
DN_FN void held_channel(const dn_bn_held *p, int first, const float *all, int threads, int c, float *a, float *b)
{
    int rows = p->step / p->run, start = first % p->run, lane = (int)threadIdx.x & 31;  /* thread 0 has vector `start` of an image */
    int lo = c * p->f.hw / DN_VN, span = ((c + 1) * p->f.hw + DN_VN - 1) / DN_VN - lo;
    *a = *b = 0.0f;
    for (int q = lane; q < span * rows; q += 32) {
        int row = q / span, v = lo + q - row * span, th = row * p->run + (v >= start ? v - start : v - start + p->run);
        bool second = v * DN_VN / p->f.hw != c;
        *a += all[(second ? 2 : 0) * threads + th];
        *b += all[(second ? 3 : 1) * threads + th];
    }
    *a = dn_warp_sum(*a);
    *b = dn_warp_sum(*b);
}

/* f: x, becomes the result */
template <int TWO> DN_FN void held_result(int lim, const float4 &k0, const float4 &k1, float *f, const float *g)
{
#pragma unroll
    for (int e = 0; e < DN_VN; e++) {
        bool second = TWO && e >= lim;
        float4 k = make_float4(second ? k1.x : k0.x, second ? k1.y : k0.y, second ? k1.z : k0.z, 0.0f);
        f[e] = dn_bn_one<KIND>(k, f[e], g[e]);
    }
}

/* r = alpha r + beta old */
DN_FN void held_blend(const dn_bn_held *p, float *r, float alpha, const dn_t *old)
{
#pragma unroll
    for (int e = 0; e < DN_VN; e++)
        r[e] *= alpha;
    if (p->f.beta != 0.0f) {
        float o[DN_VN];
        dn_vec_get(dn_vec_last(old), o);
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            r[e] = fmaf(p->f.beta, o[e], r[e]);
    }
}

/* dn_bn_finish for a whole vector */
template <int ADD> DN_FN void held_finish(const dn_bn_held *p, float *f, float *w, dn_s64 at)
{
    if (KIND != DN_BN_BWD) {
#pragma unroll
        for (int e = 0; ADD && e < DN_VN; e++)
            f[e] += w[e];
        if (p->f.ops)
            dn_bn_activate(&p->f, f, at);
    } else if (p->f.ops == 2) {
        held_blend(p, w, p->f.alpha, (const dn_t *)p->f.dz + at);
        dn_vec_out((dn_t *)p->f.dz + at, w);
    }
    held_blend(p, f, KIND == DN_BN_BWD ? 1.0f : p->f.alpha, (const dn_t *)p->f.out + at);
    dn_vec_out((dn_t *)p->f.out + at, f);
}

#endif
