/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Functions for searches for a value in a packet, eight bytes at a time. The first byte in memory is the lowest byte of
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

/* A mask with the highest bit of each byte that is zero. Above the lowest zero byte, the bit may also be set for other
 * bytes. */
INLINE u64 zero_bytes(u64 word)
{
    return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

/* Marks the bytes of a word below a number, and from a number on: the highest bit of each such byte. The number is
 * at most 128. As in zero_bytes, marks above the first one may be wrong. */
INLINE u64 bytes_below(u64 word, u64 number)
{
    return (word - number * 0x0101010101010101) & ~word & 0x8080808080808080;
}

INLINE u64 bytes_from(u64 word, u64 number)
{
    return (((word & 0x7f7f7f7f7f7f7f7f) + (128 - number) * 0x0101010101010101) | word) & 0x8080808080808080;
}

/* Marks the bytes that the text of a DNS name writes as escapes (RFC 4343, section 2.1): those that are no printable ASCII,
 * dots and backslashes. Marks above the first one may be wrong. */
INLINE u64 name_escapes(u64 word)
{
    return bytes_below(word, '!') | bytes_from(word, 0x7f) | zero_bytes(word ^ 0x2e2e2e2e2e2e2e2e) |
           zero_bytes(word ^ 0x5c5c5c5c5c5c5c5c);
}

/* A mask with the highest bit of each byte that is not zero. */
INLINE u64 nonzero_bytes(u64 word)
{
    u64 most = 0x7f7f7f7f7f7f7f7f;

    return (((word & most) + most) | word) & ~most;
}

/* The index of the lowest byte that such a mask marks; it marks at least one. The multiplication yields the index in
 * the highest byte, so that targets need no instruction that counts zeros. */
INLINE u64 first_byte(u64 marks)
{
    return (((marks & -marks) >> 7) * 0x0001020304050607) >> 56;
}

/* The number of offsets in a packet at which it has at least `bytes` more bytes. */
INLINE u64 offsets_with(const u8 *data, const u8 *data_end, u64 bytes)
{
    u64 all = data_end - data;

    return all < bytes ? 0 : all - bytes + 1;
}

#endif
