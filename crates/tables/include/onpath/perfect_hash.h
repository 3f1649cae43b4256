/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Const tables with exact keys: arrays in read-only data, in which each key has an element of its own. */
#ifndef ONPATH_PERFECT_HASH_H
#define ONPATH_PERFECT_HASH_H

#include "types.h"

/* Returns the index of the element of a key of `words` words, in an array whose index has `bits` bits. The compiler
 * chose the multiplier so that no two keys of the table have the same index. */
INLINE u64 perfect_place(const void *key, u32 words, u64 multiplier, u32 bits)
{
    const any32 *at = key;
    u64 hash = 0;
    u32 word;

    for (word = 0; word < words; word++)
        hash = (hash ^ at[word]) * multiplier;
    return hash >> (64 - bits);
}

/* Returns true if two keys of `words` words are equal. */
INLINE int same_key(const void *a, const void *b, u32 words)
{
    const any32 *one = a, *other = b;
    u32 word, differs = 0;

    for (word = 0; word < words; word++)
        differs |= one[word] ^ other[word];
    return !differs;
}

#endif
