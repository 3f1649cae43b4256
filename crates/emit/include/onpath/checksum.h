/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Internet checksums (RFC 1071, RFC 1624). A one's complement sum does not depend on byte order, so it is
 * taken over the bytes as they lie in the packet: the swaps here cancel those of loads and stores. */
#ifndef ONPATH_CHECKSUM_H
#define ONPATH_CHECKSUM_H

#include "types.h"

/* Folds the sum of up to 65,535 words of 16 bits to 16 bits, with end-around carry. */
INLINE u32 csum_fold(u32 sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

/* Adds up `length` bytes, as words of 16 bits in memory order. If `odd`, the first byte is the second one of its
 * word. */
INLINE u32 csum_bytes(const u8 *bytes, u64 length, u32 odd)
{
    u32 sum = 0;

    for (u64 at = 0; at + 1 < length; at += 2)
        sum = csum_fold(sum + *(const any16 *)(bytes + at));
    if (length & 1)
        sum = csum_fold(sum + BE16(bytes[length - 1] << 8));
    return odd ? (u16)(sum << 8 | sum >> 8) : sum;
}

/* The checksum for the sum of up to 65,535 numbers of 32 bits. */
INLINE u32 csum_of(u64 sum)
{
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    return BE16((u16)~csum_fold(sum));
}

INLINE u32 csum_replace2(u32 csum, u32 old, u32 new)
{
    u32 sum = (u16)~BE16(csum) + (u16)~BE16(old) + BE16(new);

    return BE16((u16)~csum_fold(sum));
}

INLINE u32 csum_replace4(u32 csum, u32 old, u32 new)
{
    u32 was = ~BE32(old), is = BE32(new);
    u32 sum = (u16)~BE16(csum) + (was & 0xffff) + (was >> 16) + (is & 0xffff) + (is >> 16);

    return BE16((u16)~csum_fold(sum));
}

INLINE u32 ebpf_ipv4_checksum(u32 version, u32 ihl, u32 diffserv, u32 total_len, u32 id, u32 flags,
                              u32 frag_offset, u32 ttl, u32 protocol, u32 src, u32 dst)
{
    u64 sum = BE16(version << 12 | ihl << 8 | diffserv) + BE16(total_len) + BE16(id) +
              BE16(flags << 13 | frag_offset) + BE16(ttl << 8 | protocol);

    return csum_of(sum + BE32(src) + BE32(dst));
}

#endif
