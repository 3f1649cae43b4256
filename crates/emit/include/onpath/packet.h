/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Bytes in network order to and from numbers. The machine loads and stores at any address in a packet or a
 * table's entry, so each is one access, or two or three for sizes that are no power of two. The compiler drops a
 * swap whose result is only compared with a constant or stored again. */
#ifndef ONPATH_PACKET_H
#define ONPATH_PACKET_H

#include "types.h"

INLINE u32 load_be8(const void *p)
{
    return *(const u8 *)p;
}

INLINE u32 load_be16(const void *p)
{
    return BE16(*(const any16 *)p);
}

INLINE u32 load_be32(const void *p)
{
    return BE32(*(const any32 *)p);
}

INLINE u64 load_be64(const void *p)
{
    return BE64(*(const any64 *)p);
}

INLINE u32 load_be24(const void *p)
{
    return load_be16(p) << 8 | load_be8((const u8 *)p + 2);
}

INLINE u64 load_be40(const void *p)
{
    return (u64)load_be32(p) << 8 | load_be8((const u8 *)p + 4);
}

INLINE u64 load_be48(const void *p)
{
    return (u64)load_be32(p) << 16 | load_be16((const u8 *)p + 4);
}

INLINE u64 load_be56(const void *p)
{
    return (u64)load_be32(p) << 24 | load_be24((const u8 *)p + 4);
}

INLINE void store_be8(void *p, u32 value)
{
    *(u8 *)p = value;
}

INLINE void store_be16(void *p, u32 value)
{
    *(any16 *)p = BE16(value);
}

INLINE void store_be32(void *p, u32 value)
{
    *(any32 *)p = BE32(value);
}

INLINE void store_be64(void *p, u64 value)
{
    *(any64 *)p = BE64(value);
}

INLINE void store_be24(void *p, u32 value)
{
    store_be16(p, value >> 8);
    store_be8((u8 *)p + 2, value);
}

INLINE void store_be40(void *p, u64 value)
{
    store_be32(p, value >> 8);
    store_be8((u8 *)p + 4, value);
}

INLINE void store_be48(void *p, u64 value)
{
    store_be32(p, value >> 16);
    store_be16((u8 *)p + 4, value);
}

INLINE void store_be56(void *p, u64 value)
{
    store_be32(p, value >> 24);
    store_be24((u8 *)p + 4, value);
}

#endif
