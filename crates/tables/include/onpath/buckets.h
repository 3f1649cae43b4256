/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Tables with exact keys: buckets of a few entries. A key's hash chooses two buckets.
 *
 * A bucket begins with two words. The first one has a bit for each slot in use. The second one counts the keys with
 * this first bucket that are elsewhere: its lower half those in their second bucket, its upper half those in a bucket
 * of other keys, whose slot is in the overflow map. The keys of all slots follow, and then their values. */
#ifndef ONPATH_BUCKETS_H
#define ONPATH_BUCKETS_H

#include "perfect_hash.h"
#include "seeds.h"
#include "tables.h"

#define BUCKET_PLACES 4
/* Result in place of a slot: the overflow map may have it. No array has as many slots. */
#define BUCKET_OVERFLOW 0xfffffffeu
/* Longest key, in words of 8 bytes. */
#define BUCKET_KEY_WORDS 24

/* Mixes a word into a hash. The shift carries high bits to low ones. The product, whose factor depends on the seed,
 * spreads all bits. */
INLINE u64 bucket_round(u64 hash, u64 word, u64 factor)
{
    hash ^= word;
    hash ^= hash >> 32;
    return hash * factor;
}

/* Returns the hash of words. Even and odd words form two chains, which the processor runs in parallel. It takes a sixth
 * of the time of sip_hash (make bench-tables). Keys can be found that collide under every seed, but only the control
 * plane inserts, and the overflow map leads to entries whose buckets are full. */
INLINE u64 bucket_mix(const u64 *word, u32 words)
{
    u64 seed = hash_seeds.buckets;
    u64 a = 0x9e3779b97f4a7c15 ^ seed, factor_a = 0xbf58476d1ce4e5b9 ^ seed << 1;
    u64 b = 0xd6e8feb86659fd93 + seed, factor_b = 0x94d049bb133111eb + (seed << 1);

#pragma unroll
    for (u32 i = 0; i < words; i++)
        if (i % 2 == 0)
            a = bucket_round(a, word[i], factor_a);
        else
            b = bucket_round(b, word[i], factor_b);
    a = bucket_round(a, b >> 29 | b << 35, factor_b);
    a ^= a >> 32;
    a *= 0xff51afd7ed558ccd;
    return a ^ a >> 32;
}

/* Returns the hash of a key of `words` words of 4 bytes.
 *
 * The key is read in such words, as its fields were just written. A load that spans several recent stores waits until
 * these stores and all earlier ones are complete, and with them look-ups of earlier packets that wait for memory. */
INLINE u64 bucket_hash(const u8 *key, u32 words)
{
    const any32 *half = (const any32 *)key;
    u64 word[BUCKET_KEY_WORDS];
    u32 at;

#pragma unroll
    for (at = 0; at < words; at += 2) {
        u64 first = half[at], second = at + 1 < words ? half[at + 1] : 0;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word[at / 2] = first << 32 | second;
#else
        word[at / 2] = second << 32 | first;
#endif
    }
    return bucket_mix(word, (words + 1) / 2);
}

/* Returns the index of a key's slot in a bucket; BUCKET_PLACES if it has none there.
 *
 * A slot is written before its bit is set. So keys and values must be loaded after the bits. Their addresses depend on
 * the bits, if only by a zero, so that no processor loads them earlier. */
INLINE u32 bucket_place(const u8 *bucket, const u8 *key, u32 words)
{
    u64 used = *(const volatile u32 *)bucket, zero = zero_after(used);
    const u8 *own = bucket + 8 + zero;
    u32 at;

#pragma unroll
    for (at = 0; at < BUCKET_PLACES; at++)
        if (used >> at & 1 && same_key(own + at * 4 * words, key, words))
            return at + zero;
    return BUCKET_PLACES;
}

/* Finds the entry of a key among `count` buckets. Returns its slot, counted over all buckets; or BUCKET_OVERFLOW; or
 * NO_ENTRY. */
INLINE u32 bucket_find(void *buckets, const u8 *key, u32 words, u32 count)
{
    u64 hash = bucket_hash(key, words);
    u32 number = (u64)(u32)hash * count >> 32, place, elsewhere;
    const u8 *bucket = map_find(buckets, &number);

    if (!bucket)
        return NO_ENTRY;
    place = bucket_place(bucket, key, words);
    if (place < BUCKET_PLACES)
        return number * BUCKET_PLACES + place;
    elsewhere = ((const volatile u32 *)bucket)[1];
    if (!elsewhere)
        return NO_ENTRY;
    if ((u16)elsewhere) {
        number = (hash >> 32) * count >> 32;
        bucket = map_find(buckets, &number);
        if (!bucket)
            return NO_ENTRY;
        place = bucket_place(bucket, key, words);
        if (place < BUCKET_PLACES)
            return number * BUCKET_PLACES + place;
    }
    return elsewhere >> 16 ? BUCKET_OVERFLOW : NO_ENTRY;
}

/* Returns the slot that the overflow map has for a key on the stack, or NO_ENTRY. */
INLINE u32 bucket_overflow(void *overflow, const void *key)
{
    const volatile u32 *slot = map_find(overflow, key);

    return slot ? *slot : NO_ENTRY;
}

/* Returns the value in a slot. Values have `size` bytes, and begin at offset `values` of a bucket. */
INLINE void *bucket_value(void *buckets, u32 place, u32 values, u32 size)
{
    u32 number = place / BUCKET_PLACES;
    u8 *bucket = map_find(buckets, &number);

    if (!bucket)
        return NULL;
    /* A checker accepts the addition only after the comparison. */
    barrier_var(bucket);
    return bucket + values + place % BUCKET_PLACES * size;
}

#endif
