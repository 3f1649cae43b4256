/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Room at the packet's head.
 *
 * The kernel makes and takes room behind the Ethernet header of IP packets, and keeps what it knows of them:
 * where the transport header is, where a checksum is to go, and how the packet is to be taken apart. For whoever
 * then writes the packet's first bytes anew it is as if the head had moved.
 * - Packets that grow have so much smaller segments, so that these stay as long as they were; datagrams of UDP
 *   keep their size. Packets that shrink keep their segments' payload.
 * - That a device found the transport checksum right stays known where a packet grows. Where it shrinks it is
 *   forgotten and the stack checks again: the checksum that was right may have been in what is gone.
 * - Other packets are taken for IP ones meanwhile. Those that are still to be taken apart are refused.
 * - A packet grows or shrinks by less than 4 KiB. */
#ifndef ONPATH_ROOM_H
#define ONPATH_ROOM_H

#include "skb.h"
#include "vlan.h"

#define KEPT 48 /* bytes that are moved here if the kernel cannot: more than those behind which it can */

INLINE u64 room_flags(int by)
{
    return by > 0 ? BPF_F_ADJ_ROOM_NO_CSUM_RESET : BPF_F_ADJ_ROOM_FIXED_GSO;
}

/* The same for any packet. A tag of our own stays beside it, so that packet_end looks at it again. */
OUTLINE long packet_resize_any(struct __sk_buff *ctx, u32 from, u32 to)
{
    u8 kept[KEPT] = {};
    u32 length = ctx->len, rest = length - from, count = rest < KEPT ? rest : KEPT;
    u16 type = TYPE_IP;
    int by = to - from;
    long error;

    if (from > length)
        return -1;
    asm volatile("" : "+r"(count));
    if (count - 1 < KEPT && bpf_skb_load_bytes(ctx, from, kept, count))
        return -1;
    for (int i = 0; i < 4; i++) {
        u16 protocol = ctx->protocol;

        if (!ctx->vlan_present && protocol != TYPE_VLAN && protocol != TYPE_SERVICE_VLAN)
            break;
        if (bpf_skb_vlan_pop(ctx))
            return -1;
    }
    by += length - ctx->len;
    if ((u16)ctx->protocol != TYPE_IP && (u16)ctx->protocol != TYPE_IPV6) {
        if (ctx->gso_size || bpf_skb_store_bytes(ctx, TYPE, &type, sizeof(type), 0) || packet_reread(ctx))
            return -1;
    }
    error = by ? bpf_skb_adjust_room(ctx, by, BPF_ADJ_ROOM_MAC, room_flags(by)) : 0;
    if (error && by > 0 && ctx->gso_size)
        error = bpf_skb_adjust_room(ctx, by, BPF_ADJ_ROOM_MAC,
                                    BPF_F_ADJ_ROOM_NO_CSUM_RESET | BPF_F_ADJ_ROOM_FIXED_GSO);
    /* What is left is shorter than an IP packet: all of it is moved here. */
    if (error && by < 0 && rest <= KEPT)
        error = bpf_skb_change_tail(ctx, to + rest, 0);
    if (error)
        return error;
    asm volatile("" : "+r"(count));
    if (count - 1 < KEPT && bpf_skb_store_bytes(ctx, to, kept, count, 0))
        return -1;
    return bpf_skb_vlan_push(ctx, TYPE_VLAN, 0);
}

/* Makes the packet's first `from` bytes `to` bytes, whose content is not said: the caller writes them. 0 if it
 * could be done. */
INLINE long packet_resize_head(struct __sk_buff *ctx, u32 from, u32 to)
{
    int by = to - from;

    if (from >= ETHERNET && to >= ETHERNET && !bpf_skb_adjust_room(ctx, by, BPF_ADJ_ROOM_MAC, room_flags(by)))
        return 0;
    return packet_resize_any(ctx, from, to);
}

#endif
