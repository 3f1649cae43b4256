/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Cyclic redundancy checks, four bits at a time: a table of 16 entries stays in the cache, and short in the object. */
#ifndef ONPATH_HASH_H
#define ONPATH_HASH_H

#include "types.h"

/* Of each number of four bits: what 32 or 16 shifts leave of it. The bits are reflected. Each has a section of its own: clang 15
 * describes constants of headers and of the program in one section as if they were at one place. */
static const u32 crc32_nibble[16] __attribute__((unused, section(".rodata.crc32"))) = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};
static const u16 crc16_nibble[16] __attribute__((unused, section(".rodata.crc16"))) = {
    0x0000, 0xcc01, 0xd801, 0x1400, 0xf001, 0x3c00, 0x2800, 0xe401,
    0xa001, 0x6c00, 0x7800, 0xb401, 0x5000, 0x9c01, 0x8801, 0x4400,
};

/* The lowest four bits of a number, of which the compiler does not know if there are others: else it leaves the bound to what it knows of the number, of
 * which less may be known. */
INLINE u32 nibble_of(u32 number)
{
    asm("" : "+r"(number));
    return number & 15;
}

/* Polynomial 0x04c11db7, begun with all ones and complemented. The words are in network order. */
INLINE u32 crc32_of(const u64 *words, u32 bytes)
{
    const u8 *at = (const u8 *)words;
    u32 crc = ~0u;

    for (u32 i = 0; i < bytes; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ crc32_nibble[nibble_of(crc)];
        crc = crc >> 4 ^ crc32_nibble[nibble_of(crc)];
    }
    return ~crc;
}

/* Polynomial 0x8005, begun with 0. */
INLINE u32 crc16_of(const u64 *words, u32 bytes)
{
    const u8 *at = (const u8 *)words;
    u32 crc = 0;

    for (u32 i = 0; i < bytes; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ crc16_nibble[nibble_of(crc)];
        crc = crc >> 4 ^ crc16_nibble[nibble_of(crc)];
    }
    return crc;
}

#endif
