/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Tunnels of packets that are still to be segmented.
 *
 * Whoever segments a packet in a tunnel makes outer headers for each segment, and must know of the tunnel: the kernel
 * drops the packet otherwise. It learns of one only where bytes are inserted, when their content is not
 * known yet. So where a packet has grown by headers in front of its IP header, these are taken out again, and inserted
 * as the tunnel that they are.
 * - IP in IP, GRE with or without a key, VXLAN, Geneve, and IP directly in UDP, over IPv4 and IPv6; in GRE, VXLAN and Geneve also Ethernet
 *   frames. Segments are as long with the outer headers as they were without.
 * - Other tunnels fail: a length in a header (GTP-U), a checksum or a number (GRE, UDP) would be wrong in all segments but
 *   one. So does a tunnel in a tunnel: the kernel knows one.
 * - It is one tag at most that an outer header comes after. With more, the packet stays as it is.
 * - A packet that leaves a tunnel keeps the kernel's mark of it, which nothing can take away. No kernel minds but where
 *   it is to go into another one, and where datagrams of UDP are still to be split. */
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

/* An Ethernet header in front of the inner packet. */
#define INNER_FRAME (BPF_F_ADJ_ROOM_ENCAP_L2_ETH | (u64)ETHERNET << 56)

#define IN_OUTER 120 /* bytes that outer headers have at most */
#define IN_INNER 6   /* bytes of an IP header up to its length's end */

INLINE u32 two_bytes(const u8 *at)
{
    return at[0] << 8 | at[1];
}

/* The EtherType of the IP packet of so many bytes that begins there, as far as its header tells; 0 if none does. Packets
 * above 64 KiB say that they have no length. */
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

/* What the kernel is to know of a tunnel with so many bytes of headers up to the inner IP header; 0 if it is none that it can segment
 * behind. */
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

/* Takes out the `size` bytes after the Ethernet header, and inserts them again as what `flags` say, around an IP packet of type
 * `inner`. `head` has the packet's bytes from the EtherType on. The size of segments is right already. */
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

/* A packet that is still to be segmented and has grown by `size` bytes; `came_as` is what the stack took it for. Returns the
 * EtherType that the stack is to take it for from here on, negative if it cannot be segmented. */
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

/* The same for one that has shrunk. What is segmented is the inner packet, of another protocol than the outer one perhaps. From IPv4 to IPv6 headers grow, and
 * from IPv6 to IPv4 they shrink by less than an IPv6 header: what else there is, is translation. */
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

/* The same for one that has grown by so many bytes in front of its IP header, or shrunk. The caller does not look at the
 * number: its verifier would distinguish paths by it. */
GLOBAL_FUNC long packet_tunnel(struct __sk_buff *ctx, u32 grown, u32 came_as)
{
    if ((int)grown < 0)
        return packet_leaves_tunnel(ctx, -grown, came_as);
    return packet_enters_tunnel(ctx, grown, came_as);
}

/* A packet that passes and whose EtherType is the one it came with, but has grown in front of its IP header, or
 * shrunk. 0 if it may. */
INLINE long packet_end_resized(struct __sk_buff *ctx, u32 grown)
{
    if (context_get(ctx, gso_size) && packet_tunnel(ctx, grown, 0) < 0)
        return -1;
    return packet_end(ctx);
}

/* A packet that passes, is still to be segmented, and came as `came_as`: it may have another EtherType now, and has grown in front of its IP header by
 * `grown` bytes, or shrunk. The result is that of `packet_end_as`. */
GLOBAL_FUNC long packet_end_segmented(struct __sk_buff *ctx, u32 came_as, u32 grown)
{
    long as = packet_tunnel(ctx, grown, came_as);

    return as < 0 ? as : packet_end_as(ctx, as);
}

/* The same for any packet, to be segmented or not. */
INLINE long packet_end_resized_as(struct __sk_buff *ctx, u32 came_as, u32 grown)
{
    return context_get(ctx, gso_size) ? packet_end_segmented(ctx, came_as, grown) : packet_end_as(ctx, came_as);
}

#endif
