/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Cyclic redundancy checks, four bits at a time: a table of 16 entries stays in the cache and keeps objects small. */
#ifndef ONPATH_HASH_H
#define ONPATH_HASH_H

#include "types.h"

/* Remainders of all four-bit numbers, for each polynomial; the bits are reflected. Each table has a section of its own:
 * clang 15 describes constants of headers and of the program in one section as if they had the same address. */
static const u32 crc32_nibble[16] __attribute__((unused, section(".rodata.crc32"))) = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};
static const u16 crc16_nibble[16] __attribute__((unused, section(".rodata.crc16"))) = {
    0x0000, 0xcc01, 0xd801, 0x1400, 0xf001, 0x3c00, 0x2800, 0xe401,
    0xa001, 0x6c00, 0x7800, 0xb401, 0x5000, 0x9c01, 0x8801, 0x4400,
};

/* The lowest four bits of a number. The number is hidden from the compiler, which could otherwise omit the mask: it may
 * know a bound of the number that a later check of the code does not know. */
INLINE u32 nibble_of(u32 number)
{
    asm("" : "+r"(number));
    return number & 15;
}

/* CRC-32: polynomial 0x04c11db7, initial value all ones, result complemented. The words are in network order. */
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

/* CRC-16: polynomial 0x8005, initial value 0. */
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
