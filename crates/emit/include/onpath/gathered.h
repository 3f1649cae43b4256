/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Hashes, checksums and comparisons of field lists of variable length, which are gathered in memory. Eight zero bytes
 * follow a list. The target defines `run_turns(count, turn, with)`, which calls `turn(i, with)` for each i below
 * `count`, until a call does not return 0. It also defines `GATHERED_FRONT`, the number of bytes of the packet's front
 * that are kept in memory, a power of two. */
#ifndef ONPATH_GATHERED_H
#define ONPATH_GATHERED_H

#include "checksum.h"
#include "hash.h"

#define GATHERED 4096 /* bytes of memory for a field list: a power of two, for which a mask is a bound */

struct gathered {
    const u8 *at;
    u64 value;
};

/* Loop bodies are functions of their own, which can be checked separately, once for any number of iterations. */
#define GATHERED_TURN static __attribute__((unused)) long

GATHERED_TURN gathered_crc32_turn(u32 turn, struct gathered *list)
{
    u32 crc = (u32)list->value ^ list->at[turn & (GATHERED - 1)];

    crc = crc >> 4 ^ crc32_nibble[nibble_of(crc)];
    crc = crc >> 4 ^ crc32_nibble[nibble_of(crc)];
    list->value = crc;
    return 0;
}

GATHERED_TURN gathered_crc16_turn(u32 turn, struct gathered *list)
{
    u32 crc = (u32)list->value ^ list->at[turn & (GATHERED - 1)];

    crc = crc >> 4 ^ crc16_nibble[nibble_of(crc)];
    crc = crc >> 4 ^ crc16_nibble[nibble_of(crc)];
    list->value = crc;
    return 0;
}

GATHERED_TURN gathered_sum_turn(u32 turn, struct gathered *list)
{
    u64 word = ((const any64 *)list->at)[turn & (GATHERED / 8 - 1)];

    list->value += (u32)word + (word >> 32);
    return 0;
}

GATHERED_TURN gathered_xor_turn(u32 turn, struct gathered *list)
{
    list->value ^= ((const any64 *)list->at)[turn & (GATHERED / 8 - 1)];
    return 0;
}

INLINE u32 gathered_crc32(const u8 *at, u32 bytes)
{
    struct gathered list = {.at = at, .value = ~0u};

    run_turns(bytes, gathered_crc32_turn, &list);
    return ~(u32)list.value;
}

INLINE u32 gathered_crc16(const u8 *at, u32 bytes)
{
    struct gathered list = {.at = at, .value = 0};

    run_turns(bytes, gathered_crc16_turn, &list);
    return list.value;
}

/* Adds up 16-bit words in memory order; `csum_of` makes a checksum of the sum. */
INLINE u64 gathered_sum(const u8 *at, u32 bytes)
{
    struct gathered list = {.at = at, .value = 0};

    run_turns((bytes + 7) / 8, gathered_sum_turn, &list);
    return list.value;
}

INLINE u32 gathered_xor16(const u8 *at, u32 bytes)
{
    struct gathered list = {.at = at, .value = 0};

    run_turns((bytes + 7) / 8, gathered_xor_turn, &list);
    list.value ^= list.value >> 32;
    list.value ^= list.value >> 16;
    return BE16((u16)list.value);
}

/* The first eight bytes as a number, or all if there are fewer. */
INLINE u64 gathered_identity(const u8 *at, u32 bytes)
{
    u64 first = BE64(*(const any64 *)at);

    if (!bytes)
        return 0;
    return bytes < 8 ? first >> (64 - 8 * bytes) : first;
}

struct gathered_pair {
    const u8 *a;
    const u8 *b;
    u64 differ;
};

GATHERED_TURN gathered_pair_turn(u32 turn, struct gathered_pair *pair)
{
    u32 i = turn & (GATHERED / 8 - 1);

    pair->differ = ((const any64 *)pair->a)[i] ^ ((const any64 *)pair->b)[i];
    return pair->differ != 0;
}

/* 1 if two lists differ, in their lengths or their bytes. */
INLINE u32 gathered_differ(const u8 *a, u32 bytes, const u8 *b, u32 others)
{
    struct gathered_pair pair = {.a = a, .b = b, .differ = 0};

    if (bytes != others)
        return 1;
    run_turns((bytes + 7) / 8, gathered_pair_turn, &pair);
    return pair.differ != 0;
}

struct gathered_bits {
    u8 *at;
    u32 from;
    u32 by;
};

GATHERED_TURN gathered_shift_turn(u32 turn, struct gathered_bits *bits)
{
    u32 i = (bits->from + turn) & (GATHERED - 1);
    u32 byte = bits->at[i + 1];

    bits->at[i] |= byte >> (bits->by & 7);
    bits->at[i + 1] = byte << ((8 - bits->by) & 7);
    return 0;
}

/* Closes a gap of bits. Only the first `by` bits (1 to 7) of the byte at `from` are in use; the `bytes` bytes after it
 * are shifted up to follow these bits. */
INLINE void gathered_shift(u8 *at, u32 from, u32 bytes, u32 by)
{
    struct gathered_bits bits = {.at = at, .from = from, .by = by};

    run_turns(bytes, gathered_shift_turn, &bits);
}

struct gathered_copy {
    u8 *to;
    const u8 *front;
    u32 at;
    u32 from;
};

GATHERED_TURN gathered_copy_turn(u32 turn, struct gathered_copy *copy)
{
    copy->to[(copy->at + turn) & (GATHERED - 1)] = copy->front[(copy->from + turn) & (GATHERED_FRONT - 1)];
    return 0;
}

/* Copies bytes of the packet's front. */
INLINE void gathered_copy(u8 *to, u32 at, const void *front, u32 from, u32 bytes)
{
    struct gathered_copy copy = {.to = to, .front = front, .at = at, .from = from};

    run_turns(bytes, gathered_copy_turn, &copy);
}

#endif
