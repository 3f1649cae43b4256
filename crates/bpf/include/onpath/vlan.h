/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* VLAN tags, and what the stack notes of a packet's protocol.
 *
 * The stack keeps a packet's outermost VLAN tag beside the packet, and the EtherType after it apart from the
 * packet too. Pushing a tag beside a packet that has one moves that one into the packet; popping does the
 * opposite, and reads the protocol from the packet again. A tag of our own beside the packet so keeps the real
 * ones in it, where the program sees them; pushing and popping two tags makes the stack look at the packet
 * anew. Plain packets pay a load and a branch at each end. */
#ifndef ONPATH_VLAN_H
#define ONPATH_VLAN_H

#include "observe.h"
#include "skb.h"

/* The tag beside the packet goes into it, and stays beside it as well. */
INLINE long vlan_into_packet(struct __sk_buff *ctx)
{
    return bpf_skb_vlan_push(ctx, context_get(ctx, vlan_proto), context_get(ctx, vlan_tci));
}

/* The stack takes the packet for what its bytes say, and the tag of our own beside it, if there is one, goes. The
 * outermost real tag comes to be beside the packet. */
GLOBAL_FUNC long packet_reread(struct __sk_buff *ctx)
{
    if (!context_get(ctx, vlan_present) && bpf_skb_vlan_push(ctx, TYPE_VLAN, 0))
        return -1;
    return bpf_skb_vlan_push(ctx, TYPE_VLAN, 0) || bpf_skb_vlan_pop(ctx) || bpf_skb_vlan_pop(ctx);
}

/* The tag of our own beside a packet goes, and the outermost real one comes to be there. */
INLINE long tag_beside(struct __sk_buff *ctx)
{
    u16 type;

    if (bpf_skb_load_bytes(ctx, TYPE, &type, sizeof(type)))
        return -1;
    if (context_get(ctx, vlan_present) && type == (u16)context_get(ctx, protocol))
        return bpf_skb_vlan_pop(ctx);
    return packet_reread(ctx);
}

/* A packet with a tag of our own beside it, or of another protocol than the stack takes it for, becomes as
 * the stack expects it. In a test run, which shows no tags beside packets, they go back into it. */
GLOBAL_FUNC long packet_settle(struct __sk_buff *ctx)
{
    long error = tag_beside(ctx);

#ifdef ONPATH_OBSERVE
    if (!error && context_get(ctx, vlan_present))
        error = vlan_into_packet(ctx);
#endif
    return error;
}

#endif
