/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC11).
 * A pure function of a 128-bit counter and a 64-bit key, so every engine gives element i of call k the same random word, however
 * the work is cut, on the host or on a device.
 *
 * The words of dropout: element e of the tensor's logical order (dimensions in descriptor order, last fastest, whatever the
 * strides) takes word e % 4 of the block with
 *     counter = { e / 4 low, e / 4 high, call low, call high }     call = forward calls since the state was seeded
 *     key     = { seed low, seed high }
 * and is dropped where word < dn_dropout_threshold(p).
 *
 * Built-in types only and no include: device compilers read this file too. unsigned has 32 bits, unsigned long long 64. */
#ifndef DN_CORE_PHILOX_H
#define DN_CORE_PHILOX_H

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DN_PHILOX_FN static __host__ __device__ inline
#else
#define DN_PHILOX_FN static inline
#endif

/* Ten rounds. Each multiplies two counter words by odd constants and mixes high halves, the other words and the key; the key
 * walks by the golden ratio and sqrt(3) - 1 (Weyl sequences). */
DN_PHILOX_FN void dn_philox4x32(const unsigned counter[4], const unsigned key[2], unsigned out[4])
{
    unsigned c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    unsigned k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        unsigned long long p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
        c0 = (unsigned)(p1 >> 32) ^ c1 ^ k0;
        c2 = (unsigned)(p0 >> 32) ^ c3 ^ k1;
        c1 = (unsigned)p1;
        c3 = (unsigned)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Words of the elements 4 * block .. 4 * block + 3 in forward call number `call`. */
DN_PHILOX_FN void dn_philox_dropout(unsigned long long seed, unsigned long long call, unsigned long long block, unsigned out[4])
{
    unsigned counter[4] = { (unsigned)block, (unsigned)(block >> 32), (unsigned)call, (unsigned)(call >> 32) };
    unsigned key[2] = { (unsigned)seed, (unsigned)(seed >> 32) };
    dn_philox4x32(counter, key, out);
}

/* p * 2^32, rounded to nearest: exact for every float p of 2^-8 and more, 2^32 (drops all) for p = 1. p is 0 to 1. */
DN_PHILOX_FN unsigned long long dn_dropout_threshold(float p)
{
    return (unsigned long long)((double)p * 4294967296.0 + 0.5);
}

#endif
