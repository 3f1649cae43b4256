/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Insertion and removal of a packet's bytes.
 *
 * The kernel inserts and removes bytes after the Ethernet header or the network header of IP packets. It updates
 * its own data on the packet: the position of the transport header and of the checksum, and how the packet is to
 * be segmented.
 * - If a packet grows, its segment size shrinks accordingly, so that segments keep their length; UDP datagrams
 *   keep their size. If a packet shrinks, its segments keep their payload.
 * - A transport checksum that a device verified remains verified if the packet grows. If it shrinks, that is
 *   forgotten and the stack verifies again: the verified checksum may have been in the removed bytes.
 * - Other packets are presented as IP packets meanwhile. Those that are still to be segmented are refused.
 * - A packet grows or shrinks by less than 4 KiB.
 * - A packet that is still to be segmented and gets an outer header looks as if it got extension headers. The
 *   kernel learns of the tunnel once the header's content is known: tunnel.h. */
#ifndef ONPATH_RESIZE_H
#define ONPATH_RESIZE_H

#include "bpf.h"
#include "skb.h"
#include "vlan.h"

#define IPV4_END (ETHERNET + 20) /* offset at which the kernel inserts bytes, on request */
#define IPV6_END (ETHERNET + 40)
#define FIRST 56      /* bytes saved at the front: an IPv6 header's end, and an Ethernet header with three tags */
#define REST 48       /* more than the payload of any packet that the kernel refuses to make so short */

INLINE u64 room_flags(int by)
{
    return by > 0 ? BPF_F_ADJ_ROOM_NO_CSUM_RESET : BPF_F_ADJ_ROOM_FIXED_GSO;
}

struct relocation {
    struct __sk_buff *ctx;
    struct packet_work *work;
    u32 from;
    u32 count;
    int by;
};

STATIC_FUNC long relocate_piece(u32 turn, struct relocation *m)
{
    u32 size = m->count < PIECE ? m->count : PIECE;
    u32 at = m->by < 0 ? m->from : m->from + m->count - size;

    (void)turn;
    if (!size || bpf_skb_load_bytes(m->ctx, at, m->work->piece, piece_size(size)) ||
        bpf_skb_store_bytes(m->ctx, at + m->by, m->work->piece, piece_size(size), 0))
        return 1;
    if (m->by < 0)
        m->from += size;
    m->count -= size;
    return 0;
}

/* Moves `count` bytes by a distance, forwards or backwards. */
GLOBAL_FUNC long packet_move(struct __sk_buff *ctx, u32 from, u32 count, int by)
{
    u32 zero = 0;
    struct relocation m = {ctx, bpf_map_lookup_elem(&packet_work, &zero), from, count, by};

    if (!m.work)
        return -1;
    if (count)
        bpf_loop((count + PIECE - 1) / PIECE, relocate_piece, &m, 0);
    return m.count;
}

/* Inserts or removes bytes after the Ethernet header of a packet without tags. */
GLOBAL_FUNC long packet_resize_untagged(struct __sk_buff *ctx, int by)
{
    u16 type = TYPE_IP;
    long error;

    if (!by)
        return 0;
    if (context_get(ctx, protocol) != TYPE_IP && context_get(ctx, protocol) != TYPE_IPV6) {
        if (context_get(ctx, gso_size) || bpf_skb_store_bytes(ctx, TYPE, &type, sizeof(type), 0) ||
            packet_reread(ctx))
            return -1;
    }
    error = bpf_skb_adjust_room(ctx, by, BPF_ADJ_ROOM_MAC, room_flags(by));
    if (error && by > 0 && context_get(ctx, gso_size))
        error = bpf_skb_adjust_room(ctx, by, BPF_ADJ_ROOM_MAC,
                                    BPF_F_ADJ_ROOM_NO_CSUM_RESET | BPF_F_ADJ_ROOM_FIXED_GSO);
    return error;
}

/* Resizes any packet, like packet_resize. It saves and restores the bytes that the kernel moves differently: the
 * first bytes and, of a short packet, all that remains. The rest of the front is moved. A placeholder tag stays
 * outside the packet data, so that packet_end checks the packet. */
GLOBAL_FUNC long packet_resize_any(struct __sk_buff *ctx, u32 front, u32 from, u32 to)
{
    u32 zero = 0, length = context_get(ctx, len), first, rest, tail;
    struct packet_work *work = bpf_map_lookup_elem(&packet_work, &zero);
    int by = to - from;
    long error;

    if (!work || from > length || front > from || front > to)
        return -1;
    tail = length - from;
    rest = tail < REST ? tail : REST;
    first = front < FIRST ? front : FIRST;
    if ((first && bpf_skb_load_bytes(ctx, 0, work->first, piece_size(first))) ||
        (rest && bpf_skb_load_bytes(ctx, from, work->rest, piece_size(rest))))
        return -1;
    if (by < 0 && packet_move(ctx, first, front - first, -by))
        return -1;
    for (int i = 0; i < 4; i++) {
        if (!context_get(ctx, vlan_present) && context_get(ctx, protocol) != TYPE_VLAN &&
            context_get(ctx, protocol) != TYPE_SERVICE_VLAN)
            break;
        if (bpf_skb_vlan_pop(ctx))
            return -1;
    }
    error = packet_resize_untagged(ctx, by + length - context_get(ctx, len));
    if (error && by < 0 && tail <= REST && front <= FIRST) {
        /* The kernel does not truncate a packet before its transport header. Removing bytes by
         * packet_resize_untagged moves that position too. */
        u32 least = context_get(ctx, protocol) == TYPE_IPV6 ? IPV6_END : IPV4_END;

        if (context_get(ctx, len) > least)
            packet_resize_untagged(ctx, least - context_get(ctx, len));
        error = bpf_skb_change_tail(ctx, to + tail, 0);
    }
    if (error || (by > 0 && packet_move(ctx, first + by, front - first, -by)))
        return -1;
    if ((first && bpf_skb_store_bytes(ctx, 0, work->first, piece_size(first), 0)) ||
        (rest && bpf_skb_store_bytes(ctx, to, work->rest, piece_size(rest), 0)))
        return -1;
    return bpf_skb_vlan_push(ctx, TYPE_VLAN, 0);
}

/* Replaces the bytes from `front` to `from` by bytes from `front` to `to`, with unspecified content: the caller
 * writes them. Returns 0 on success. */
INLINE long packet_resize(struct __sk_buff *ctx, u32 front, u32 from, u32 to)
{
    int by = to - from;
    u32 mode = BPF_ADJ_ROOM_MAC;
    u32 able = front <= ETHERNET && from >= ETHERNET && to >= ETHERNET;

    if ((front == IPV6_END && context_get(ctx, protocol) == TYPE_IPV6) ||
        (front == IPV4_END && context_get(ctx, protocol) == TYPE_IP)) {
        mode = BPF_ADJ_ROOM_NET;
        able = 1;
    }
    if (able && !bpf_skb_adjust_room(ctx, by, mode, room_flags(by)))
        return 0;
    return packet_resize_any(ctx, front, from, to);
}

/* Returns a number after a round trip through memory, where the verifier's precision tracking stops. Verifiers
 * before Linux 6.5 track back a number that must be known exactly, such as an offset into the packet. At a
 * function call they give up, and then distinguish paths by all numbers. */
INLINE u32 through_memory(u32 number)
{
    u32 zero = 0;
    struct packet_work *work = bpf_map_lookup_elem(&packet_work, &zero);
    volatile u32 *kept;

    if (!work)
        return ~0u; /* not a valid offset */
    kept = (volatile u32 *)work->first;
    *kept = number;
    return *kept;
}

#endif
