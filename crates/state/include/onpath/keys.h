/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Keys, and the sets of eight ways that they belong to: of flow states, and of metrics by group.
 *
 * The lower half of a key's hash chooses the set. The upper half is the tag, which is compared before the key's
 * words. A way with tag 0 is empty. A way holds the key's words first; the program defines the rest. */
#ifndef ONPATH_KEYS_H
#define ONPATH_KEYS_H

#include "seeds.h"
#include "siphash.h"
#include "types.h"

#define SET_WAYS 8

/* Writes the `bytes` low bytes of a value in network order at byte `at` of a key, which must be zero there. */
INLINE void key_put(u64 *word, u32 at, u64 value, u32 bytes)
{
    u32 bit = at % 8 * 8, spare = 64 - 8 * bytes;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = BE64(value) >> spare;
    word[at / 8] |= value << bit;
    if (bit > spare)
        word[at / 8 + 1] |= value >> (64 - bit);
#else
    value <<= spare;
    word[at / 8] |= value >> bit;
    if (bit > spare)
        word[at / 8 + 1] |= value << (64 - bit);
#endif
}

/* Returns the hash of a key. Packets choose keys; without the secret nobody finds keys that share a set. */
INLINE u64 key_hash(const u64 *word, u32 words)
{
#ifdef ONPATH_LARGE
    /* The hash is long: a checker follows it once for all paths with the same state. */
    paths_meet();
#endif
    return sip_hash(word, words, hash_seeds.key[0], hash_seeds.key[1]);
}

/* Hashes that a processor keeps, each with its key, since packets of one flow come in bursts. Keys that share an element
 * replace each other there, and are hashed anew: nothing is lost, whoever prepares them. An element is its hash, a
 * word that flow_forget() borrows, and the key's words. An element without a hash has no key. */
#define KEPT_HASHES 256
#define KEPT_KEY 2

/* Returns the index of a key's element. */
INLINE u32 key_slot(const u64 *word, u32 words)
{
    u64 sum = 0;

#pragma unroll
    for (u32 i = 0; i < words; i++)
        sum += word[i] * (2 * i + 1);
    return sum * 0x9e3779b97f4a7c15 >> 56;
}

/* Returns the hash of a key, which is kept in the key's element. */
INLINE u64 key_hash_kept(u64 *kept, const u64 *word, u32 words)
{
    u64 differs = 0, hash;

#pragma unroll
    for (u32 i = 0; i < words; i++)
        differs |= kept[KEPT_KEY + i] ^ word[i];
    hash = kept[0];
    /* The highest bit is set if the hash is 0. A second test would be a second way into the hash. */
    differs |= ((hash - 1) & ~hash) >> 63;
    if (differs) {
        hash = key_hash(word, words);
        kept[0] = hash;
#pragma unroll
        for (u32 i = 0; i < words; i++)
            kept[KEPT_KEY + i] = word[i];
    }
    return hash;
}

/* Returns the tag of a key with this hash. */
INLINE u32 key_tag(u64 hash)
{
    u32 tag = hash >> 32;

    return tag ? tag : 1;
}

/* Returns the first way with this tag and key, or SET_WAYS. Ways are `size` bytes apart. */
INLINE u32 way_find(const u32 *tags, u32 tag, const void *ways, u32 size, const u64 *key, u32 words)
{
#pragma unroll
    for (u32 at = 0; at < SET_WAYS; at++) {
        const u64 *own = (const u64 *)((const u8 *)ways + at * size);
        u32 same = 0;

        if (tags[at] != tag)
            continue;
#pragma unroll
        while (same < words && own[same] == key[same])
            same++;
        if (same == words)
            return at;
    }
    return SET_WAYS;
}

#endif
