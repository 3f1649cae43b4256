/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Truncation of packets to lengths that the kernel refuses.
 *
 * The kernel does not truncate a packet before its transport header, nor before the end of a checksum that is left
 * to the device. It stores both positions as addresses in memory. Removing bytes before them therefore brings them
 * nearer to the packet's start.
 *
 * Linux 6.13, 6.12.8, 6.6.69 and 6.1.123 and their successors discard a checksum whose data would begin before the
 * packet, and positions there. Other kernels refuse the packet. All kernels refuse one that would end within its
 * tag. */
#ifndef ONPATH_CUT_H
#define ONPATH_CUT_H

#include "resize.h"
#include "traffic.h"

#define CUT_OUT 1024 /* bytes removed: more than the headers before a checksum's data have */

/* Truncates a packet to `to` bytes, at most CUT_OUT. All headers up to there are kept. Returns 0 on success. */
GLOBAL_FUNC long packet_cut_short(struct __sk_buff *ctx, u32 to)
{
    u32 zero = 0;
    struct packet_work *work = bpf_map_lookup_elem(&packet_work, &zero);

    if (!work || to < ETHERNET || to > CUT_OUT ||
        /* The kernel leaves an IP header after the bytes that it removes. */
        bpf_skb_change_tail(ctx, CUT_OUT + IPV6_END + to, 0) ||
        bpf_skb_load_bytes(ctx, 0, work->first, ETHERNET) ||
        packet_move(ctx, ETHERNET, to - ETHERNET, CUT_OUT) || packet_resize_untagged(ctx, -CUT_OUT) ||
        bpf_skb_store_bytes(ctx, 0, work->first, ETHERNET, 0) || packet_reread(ctx))
        return -1;
    /* The tag is now outside the packet data; the program sees it in the packet. */
    if (context_get(ctx, vlan_present) && vlan_into_packet(ctx))
        return -1;
    return bpf_skb_change_tail(ctx, to, 0);
}

/* Truncates a packet that was resubmitted for that. Returns 0 on success. */
INLINE long cut_packet(struct __sk_buff *ctx, void *drops, struct round *round)
{
    long error = context_get(ctx, len) > round->truncate ? bpf_skb_change_tail(ctx, round->truncate, 0) : 0;

    if (error)
        error = packet_cut_short(ctx, round->truncate);
    if (error)
        count_drop(drops, DROPPED_CUT);
    return error;
}

/* Sends a truncated packet out of its port. */
INLINE long send_cut(struct __sk_buff *ctx, void *ports, void *drops, struct round *round)
{
    if (packet_end(ctx)) {
        count_drop(drops, DROPPED_QUEUE);
        return TC_STOP;
    }
    return forward_to(ports, round->port, drops);
}

#endif
