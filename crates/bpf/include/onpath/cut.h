/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Packets that are cut to a length that the kernel refuses.
 *
 * The kernel cuts no packet in front of where it saw the transport header, or of the end of a checksum that a device is still
 * to compute. It notes both as places in memory: bytes that are taken out in front of them bring them nearer to the
 * packet's beginning. A checksum whose data would begin in front of the packet is forgotten, and so are places there: by kernels
 * from 6.13 on, and from 6.1.123, 6.6.69 and 6.12.8 on. Others refuse the packet, as all do one that would end in its tag. */
#ifndef ONPATH_CUT_H
#define ONPATH_CUT_H

#include "resize.h"
#include "traffic.h"

#define CUT_OUT 1024 /* bytes that are taken out: more than headers have in front of what a checksum covers */

/* Cuts a packet to `to` bytes, at most CUT_OUT. All headers are kept, as far as they go. 0 if it could be done. */
GLOBAL_FUNC long packet_cut_short(struct __sk_buff *ctx, u32 to)
{
    u32 zero = 0;
    struct packet_work *work = bpf_map_lookup_elem(&packet_work, &zero);

    if (!work || to < ETHERNET || to > CUT_OUT ||
        /* The kernel leaves an IP header behind what it takes out. */
        bpf_skb_change_tail(ctx, CUT_OUT + IPV6_END + to, 0) ||
        bpf_skb_load_bytes(ctx, 0, work->first, ETHERNET) ||
        packet_move(ctx, ETHERNET, to - ETHERNET, CUT_OUT) || packet_resize_untagged(ctx, -CUT_OUT) ||
        bpf_skb_store_bytes(ctx, 0, work->first, ETHERNET, 0) || packet_reread(ctx))
        return -1;
    /* A tag is beside the packet now. The program sees it in the packet. */
    if (context_get(ctx, vlan_present) && vlan_into_packet(ctx))
        return -1;
    return bpf_skb_change_tail(ctx, to, 0);
}

/* A packet that came in again to be cut. 0 if it could be. */
INLINE long cut_packet(struct __sk_buff *ctx, void *drops, struct round *round)
{
    long error = context_get(ctx, len) > round->truncate ? bpf_skb_change_tail(ctx, round->truncate, 0) : 0;

    if (error)
        error = packet_cut_short(ctx, round->truncate);
    if (error)
        count_drop(drops, DROPPED_CUT);
    return error;
}

/* One that leaves then. */
INLINE long send_cut(struct __sk_buff *ctx, void *ports, void *drops, struct round *round)
{
    if (packet_end(ctx)) {
        count_drop(drops, DROPPED_QUEUE);
        return TC_STOP;
    }
    return forward_to(ports, round->port, drops);
}

#endif
