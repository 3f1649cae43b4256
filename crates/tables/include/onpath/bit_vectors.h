/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Tables that are searched by bit vectors. Each value of a byte of the key has a row with one bit for each entry. */
#ifndef ONPATH_BIT_VECTORS_H
#define ONPATH_BIT_VECTORS_H

#include "tables.h"

/* Returns the row of a byte's value in a lane. A row has `words` words. */
INLINE u64 *bit_row(u8 *rows, u64 lane, u64 byte, u64 words)
{
    return (u64 *)(rows + lane * 256 * words * 8 + byte * words * 8);
}

/* Returns a word of the row of enabled positions. It may change concurrently, so that it is read once. */
INLINE u64 enabled_bits(const u64 *row, u64 word)
{
    return *(const volatile u64 *)&row[word];
}

/* Returns the index of the lowest bit set. At least one must be. Not every machine has an instruction for it. */
INLINE u32 lowest_bit(u64 bits)
{
    u64 below = (bits & -bits) - 1;

    below -= below >> 1 & 0x5555555555555555;
    below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
    below = below + (below >> 4) & 0x0f0f0f0f0f0f0f0f;
    return below * 0x0101010101010101 >> 56;
}

/* Does the same for a summary whose size is a power of two. `last` is the index of its last bit. */
INLINE u64 lowest_block(u64 summary, u64 last)
{
    return masked_by(lowest_bit(summary), last);
}

#endif
