/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* SipHash-1-3 of words of 8 bytes, under a key of 128 bits: one round for each word, three at the end. It follows J.-P.
 * Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT 2012). The control plane computes the same
 * (crates/sketch/src/hash.rs). Without rotate instructions a round takes 32 instructions. A key of three words takes
 * about 35 ns (make bench-tables), less than with all other functions of its strength that were tried. */
#ifndef ONPATH_SIPHASH_H
#define ONPATH_SIPHASH_H

#include "types.h"

INLINE u64 rotate_left(u64 word, u32 bits)
{
    return word << bits | word >> (64 - bits);
}

INLINE void sip_round(u64 *v)
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate_left(v[1], 13) ^ v[0];
    v[3] = rotate_left(v[3], 16) ^ v[2];
    v[0] = rotate_left(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate_left(v[1], 17) ^ v[2];
    v[3] = rotate_left(v[3], 21) ^ v[0];
    v[2] = rotate_left(v[2], 32);
}

/* Returns the hash. The last word that is mixed in encodes the number of bytes. */
INLINE u64 sip_hash(const u64 *word, u32 words, u64 low, u64 high)
{
    u64 v[4] = {low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261, high ^ 0x7465646279746573};

#pragma unroll
    for (u32 i = 0; i <= words; i++) {
        u64 taken = i < words ? word[i] : (u64)words << 59;

        v[3] ^= taken;
        sip_round(v);
        v[0] ^= taken;
    }
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
