/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Tunnels of packets that are still to be segmented.
 *
 * Segmentation repeats the outer headers for each segment, and must therefore know of the tunnel: the kernel drops
 * the packet otherwise. The kernel can be informed of a tunnel only when bytes are inserted, when their content is
 * not known yet. So if a packet has grown by headers before its IP header, these are removed, and inserted again
 * with the flags of the tunnel.
 * - Supported are IP in IP, GRE with or without a key, VXLAN, Geneve, and IP directly in UDP, over IPv4 and IPv6.
 *   GRE, VXLAN and Geneve may also carry Ethernet frames. The segments' length includes the outer headers.
 * - Other tunnels fail: a length in a header (GTP-U), a checksum or a sequence number (GRE, UDP) would be wrong in
 *   all segments but one. A tunnel in a tunnel fails too: the kernel knows only one.
 * - At most one tag may precede an outer header. With more, the packet stays as it is.
 * - A packet that leaves a tunnel keeps the kernel's mark of the tunnel, which nothing can remove. That matters
 *   only if the packet enters another tunnel, or if UDP datagrams are still to be segmented. */
#ifndef ONPATH_TUNNEL_H
#define ONPATH_TUNNEL_H

#include "resize.h"
#include "tc.h"

enum {
    BPF_F_RECOMPUTE_CSUM = 1,
    BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 = 1 << 1,
    BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 = 1 << 2,
    BPF_F_ADJ_ROOM_ENCAP_L4_GRE = 1 << 3,
    BPF_F_ADJ_ROOM_ENCAP_L4_UDP = 1 << 4,
    BPF_F_ADJ_ROOM_ENCAP_L2_ETH = 1 << 6,
};

/* Flags for an Ethernet header before the inner packet. */
#define INNER_FRAME (BPF_F_ADJ_ROOM_ENCAP_L2_ETH | (u64)ETHERNET << 56)

#define IN_OUTER 120 /* most bytes of outer headers */
#define IN_INNER 6   /* bytes of an IP header up to the end of its length field */

INLINE u32 two_bytes(const u8 *at)
{
    return at[0] << 8 | at[1];
}

/* Returns the EtherType of the IP packet of `length` bytes that begins at `at`, judged by its header; 0 if there
 * is none. Packets above 64 KiB have a length field of 0. */
INLINE u32 ip_begins(const u8 *at, u32 length)
{
    u32 version = at[0] >> 4, says = version == 4 ? two_bytes(at + 2) : two_bytes(at + 4);

    if (version != 4 && version != 6)
        return 0;
    if (says && version == 6)
        says += IPV6_END - ETHERNET;
    if (says != length && (says || length <= 0xffff))
        return 0;
    return version == 4 ? TYPE_IP : TYPE_IPV6;
}

/* Returns the flags that describe a tunnel to the kernel; 0 if the kernel cannot segment packets in it. `size` is
 * the number of bytes of its headers up to the inner IP header. */
INLINE u64 tunnel_of(const u8 *outer, u32 size, u32 type)
{
    const u8 *behind;
    u32 protocol, head;
    u64 flags;

    if (type == TYPE_IP && size >= 20 && outer[0] == 0x45) {
        flags = BPF_F_ADJ_ROOM_ENCAP_L3_IPV4;
        protocol = outer[9];
        behind = outer + 20;
        size -= 20;
    } else if (type == TYPE_IPV6 && size >= 40) {
        flags = BPF_F_ADJ_ROOM_ENCAP_L3_IPV6;
        protocol = outer[6];
        behind = outer + 40;
        size -= 40;
    } else {
        return 0;
    }
    switch (protocol) {
    case 4:
    case 41:
        return size ? 0 : flags;
    case 47:
        if (behind[0] & ~0x20 || behind[1])
            return 0;
        flags |= BPF_F_ADJ_ROOM_ENCAP_L4_GRE;
        head = behind[0] ? 8 : 4;
        if (two_bytes(behind + 2) == 0x6558)
            return size == head + ETHERNET ? flags | INNER_FRAME : 0;
        return size == head ? flags : 0;
    case 17:
        if (behind[6] || behind[7])
            return 0;
        flags |= BPF_F_ADJ_ROOM_ENCAP_L4_UDP;
        if (size == 8)
            return flags;
        switch (two_bytes(behind + 2)) {
        case 4789:
        case 8472:
            head = 16;
            break;
        case 6081:
            head = 16 + (behind[8] & 0x3f) * 4;
            break;
        default:
            return 0;
        }
        return size == head + ETHERNET ? flags | INNER_FRAME : 0;
    }
    return 0;
}

/* Removes the `size` bytes after the Ethernet header and inserts them again with the given flags, around an IP
 * packet of type `inner`. `head` has the packet's bytes from the EtherType on. The segment size is right already. */
INLINE long insert_as(struct __sk_buff *ctx, const u8 *head, u32 size, u32 inner, u64 flags)
{
    u64 same = BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET;
    u16 type = inner;

    if (bpf_skb_adjust_room(ctx, -size, BPF_ADJ_ROOM_MAC, same))
        return -1;
    if (context_get(ctx, protocol) != inner) {
        if (bpf_skb_store_bytes(ctx, TYPE, &type, sizeof(type), 0) ||
            (context_get(ctx, vlan_present) && vlan_into_packet(ctx)) || packet_reread(ctx))
            return -1;
    }
    return bpf_skb_adjust_room(ctx, size, BPF_ADJ_ROOM_MAC, same | flags) ||
           bpf_skb_store_bytes(ctx, TYPE, head, sizeof(type), 0) ||
           bpf_skb_store_bytes(ctx, ETHERNET, head + 2, size, BPF_F_RECOMPUTE_CSUM);
}

/* Handles a packet that is still to be segmented and has grown by `size` bytes; `came_as` is what the stack took
 * it for. Returns the EtherType that the stack is to take it for from now on, or a negative value if the packet
 * cannot be segmented. */
INLINE long packet_enters_tunnel(struct __sk_buff *ctx, u32 size, u32 came_as)
{
    u32 zero = 0, type, inner;
    u8 *head = bpf_map_lookup_elem(&packet_work, &zero);
    u64 flags;

    if (!head)
        return -1;
    if (!size || size > IN_OUTER)
        return came_as;
    if (context_get(ctx, vlan_present) && tag_beside(ctx))
        return -1;
    barrier_var(size);
    size = ((size - 1) & 127) + 1;
    if (size > IN_OUTER || bpf_skb_load_bytes(ctx, TYPE, head, size + 2 + IN_INNER))
        return -1;
    type = *(any16 *)head;
    inner = ip_begins(head + 2 + size, context_get(ctx, len) - ETHERNET - size);
    if (inner && (type == TYPE_IP || type == TYPE_IPV6)) {
        flags = tunnel_of(head + 2, size, type);
        if (!flags || insert_as(ctx, head, size, inner, flags))
            return -1;
        came_as = type;
    }
    if (context_get(ctx, vlan_present) && vlan_into_packet(ctx))
        return -1;
    return came_as;
}

/* Handles a packet that is still to be segmented and has shrunk by `by` bytes. Only the inner packet is segmented,
 * whose protocol may differ from the outer one. A change from IPv4 to IPv6 that shrinks the packet is a
 * decapsulation, as is one from IPv6 to IPv4 by at least an IPv6 header. All other changes are translations. */
INLINE long packet_leaves_tunnel(struct __sk_buff *ctx, u32 by, u32 came_as)
{
    u16 type;

    if (bpf_skb_load_bytes(ctx, TYPE, &type, sizeof(type)) ||
        ((type == TYPE_VLAN || type == TYPE_SERVICE_VLAN) &&
         bpf_skb_load_bytes(ctx, TYPE + 4, &type, sizeof(type))))
        return -1;
    if ((came_as == TYPE_IP && type == TYPE_IPV6) ||
        (came_as == TYPE_IPV6 && type == TYPE_IP && by >= IPV6_END - ETHERNET))
        return type;
    return came_as;
}

/* Handles a packet that is still to be segmented and has grown (or shrunk, if negative) by `grown` bytes before
 * its IP header. The caller does not look at the number: its verifier would distinguish paths by it. */
GLOBAL_FUNC long packet_tunnel(struct __sk_buff *ctx, u32 grown, u32 came_as)
{
    if ((int)grown < 0)
        return packet_leaves_tunnel(ctx, -grown, came_as);
    return packet_enters_tunnel(ctx, grown, came_as);
}

/* Prepares a packet for passing on that has its original EtherType, but has grown or shrunk before its IP header.
 * Returns 0 if it may pass. */
INLINE long packet_end_resized(struct __sk_buff *ctx, u32 grown)
{
    if (context_get(ctx, gso_size) && packet_tunnel(ctx, grown, 0) < 0)
        return -1;
    return packet_end(ctx);
}

/* Prepares a packet for passing on that is still to be segmented and came in as `came_as`. It may have a new
 * EtherType, and has grown by `grown` bytes before its IP header, or shrunk. Returns the same as `packet_end_as`. */
GLOBAL_FUNC long packet_end_segmented(struct __sk_buff *ctx, u32 came_as, u32 grown)
{
    long as = packet_tunnel(ctx, grown, came_as);

    return as < 0 ? as : packet_end_as(ctx, as);
}

/* Prepares any packet for passing on like `packet_end_segmented`, to be segmented or not. */
INLINE long packet_end_resized_as(struct __sk_buff *ctx, u32 came_as, u32 grown)
{
    return context_get(ctx, gso_size) ? packet_end_segmented(ctx, came_as, grown) : packet_end_as(ctx, came_as);
}

#endif
