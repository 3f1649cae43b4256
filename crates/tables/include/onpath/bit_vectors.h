/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Tables that are searched by bit vectors: for each value of a byte of the key a row of bits, one an entry. */
#ifndef ONPATH_BIT_VECTORS_H
#define ONPATH_BIT_VECTORS_H

#include "tables.h"

/* The row of a byte's value in a lane, of rows of so many words. */
INLINE u64 *bit_row(u8 *rows, u64 lane, u64 byte, u64 words)
{
    return (u64 *)(rows + lane * 256 * words * 8 + byte * words * 8);
}

/* A word of the row of enabled positions, which changes meanwhile: it is read once. */
INLINE u64 enabled_bits(const u64 *row, u64 word)
{
    return *(const volatile u64 *)&row[word];
}

/* The number of the lowest bit that is set; there is one. Not every machine has an instruction for it. */
INLINE u32 lowest_bit(u64 bits)
{
    u64 below = (bits & -bits) - 1;

    below -= below >> 1 & 0x5555555555555555;
    below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
    below = below + (below >> 4) & 0x0f0f0f0f0f0f0f0f;
    return below * 0x0101010101010101 >> 56;
}

/* The same of a summary with a power of two bits, of which the last one's number is given. */
INLINE u64 lowest_block(u64 summary, u64 last)
{
    return masked_by(lowest_bit(summary), last);
}

#endif
