/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Transport checksums that are left to the device (CHECKSUM_PARTIAL). */
#ifndef ONPATH_CHECKSUM_PARTIAL_H
#define ONPATH_CHECKSUM_PARTIAL_H

#include "bpf.h"
#include "checksum.h"
#include "kernel_packet.h"
#include "skb.h"

/* Returns true if the transport checksum is left to the device or to the stack. */
INLINE_DESCRIBED u32 checksum_is_open(struct __sk_buff *ctx)
{
    struct sk_buff___onpath *skb = kernel_packet(ctx);
    const u8 *at = (const u8 *)skb + __builtin_preserve_field_info(skb->ip_summed, 0);
    u64 bits = 0;
#ifdef ONPATH_READ_KERNEL
    u64 copy = 0;

    bpf_probe_read_kernel(&copy, __builtin_preserve_field_info(skb->ip_summed, 1), at);
    at = (const u8 *)&copy;
#endif

    switch (__builtin_preserve_field_info(skb->ip_summed, 1)) {
    case 1:
        bits = *at;
        break;
    case 2:
        bits = *(const any16 *)at;
        break;
    case 4:
        bits = *(const any32 *)at;
        break;
    case 8:
        bits = *(const any64 *)at;
        break;
    }
    bits <<= __builtin_preserve_field_info(skb->ip_summed, 4);
    bits >>= __builtin_preserve_field_info(skb->ip_summed, 5);
    return bits == 3; /* CHECKSUM_PARTIAL */
}

/* Returns the transport checksum after a change of a word that it covers; `pseudo` is set if the word belongs to
 * the pseudo header. An open checksum, left to the device, is the sum of the pseudo header, not complemented. */
INLINE u32 l4_csum_replace4(struct __sk_buff *ctx, u32 csum, u32 old, u32 new, u32 pseudo)
{
    if (!checksum_is_open(ctx))
        return csum_replace4(csum, old, new);
    return pseudo ? (u16)~csum_replace4((u16)~csum, old, new) : csum;
}

INLINE u32 l4_csum_replace2(struct __sk_buff *ctx, u32 csum, u32 old, u32 new, u32 pseudo)
{
    if (!checksum_is_open(ctx))
        return csum_replace2(csum, old, new);
    return pseudo ? (u16)~csum_replace2((u16)~csum, old, new) : csum;
}

#endif
