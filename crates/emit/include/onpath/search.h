/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What searches for a value in a packet need: eight bytes at a time, of which the first one in memory is the lowest of
 * the word. */
#ifndef ONPATH_SEARCH_H
#define ONPATH_SEARCH_H

#include "types.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LE32(x) (x)
#define LE64(x) (x)
#else
#define LE32(x) __builtin_bswap32(x)
#define LE64(x) __builtin_bswap64(x)
#endif

INLINE u64 load_le64(const void *p)
{
    return LE64(*(const any64 *)p);
}

/* A hash of four bytes, of 32 - shift bits. */
INLINE u32 group_hash(const void *p, u32 shift)
{
    return LE32(*(const any32 *)p) * 0x9e3779b1u >> shift;
}

/* The highest bit of each byte that is zero; of bytes above the first one that is, it may be set without reason. */
INLINE u64 zero_bytes(u64 word)
{
    return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

/* The highest bit of each byte that is not zero. */
INLINE u64 nonzero_bytes(u64 word)
{
    u64 most = 0x7f7f7f7f7f7f7f7f;

    return (((word & most) + most) | word) & ~most;
}

/* Which byte, counted from the lowest, has the first highest bit that is set. One is set. The multiplication has the
 * number in the highest byte: targets need not have an instruction that counts zeros. */
INLINE u64 first_byte(u64 marks)
{
    return (((marks & -marks) >> 7) * 0x0001020304050607) >> 56;
}

/* How many offsets into a packet there are at which it has so many bytes. */
INLINE u64 offsets_with(const u8 *data, const u8 *data_end, u64 bytes)
{
    u64 all = data_end - data;

    return all < bytes ? 0 : all - bytes + 1;
}

#endif
