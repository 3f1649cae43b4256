/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* VLAN tags, and the packet's protocol as the stack has noted it.
 *
 * The stack keeps a packet's outermost VLAN tag outside the packet data, and also the EtherType after it. If a
 * packet has such a tag, pushing another moves the first into the packet. Popping does the opposite, and reads the
 * protocol from the packet again. A placeholder tag outside the packet data thus keeps the real ones in it, where
 * the program sees them. Pushing and popping two tags makes the stack parse the packet's EtherType again. Untagged
 * packets cost a load and a branch at each end. */
#ifndef ONPATH_VLAN_H
#define ONPATH_VLAN_H

#include "observe.h"
#include "skb.h"

/* Moves the tag outside the packet data into the packet; a copy of it stays outside as the placeholder. */
INLINE long vlan_into_packet(struct __sk_buff *ctx)
{
    return bpf_skb_vlan_push(ctx, context_get(ctx, vlan_proto), context_get(ctx, vlan_tci));
}

/* Makes the stack read the packet's protocol again, and removes the placeholder tag, if there is one. The
 * outermost real tag moves out of the packet data. */
GLOBAL_FUNC long packet_reread(struct __sk_buff *ctx)
{
    if (!context_get(ctx, vlan_present) && bpf_skb_vlan_push(ctx, TYPE_VLAN, 0))
        return -1;
    return bpf_skb_vlan_push(ctx, TYPE_VLAN, 0) || bpf_skb_vlan_pop(ctx) || bpf_skb_vlan_pop(ctx);
}

/* Removes the placeholder tag, and moves the outermost real tag out of the packet data. */
INLINE long tag_beside(struct __sk_buff *ctx)
{
    u16 type;

    if (bpf_skb_load_bytes(ctx, TYPE, &type, sizeof(type)))
        return -1;
    if (context_get(ctx, vlan_present) && type == (u16)context_get(ctx, protocol))
        return bpf_skb_vlan_pop(ctx);
    return packet_reread(ctx);
}

/* Restores the stack's view of a packet that has a placeholder tag or a changed protocol. In a test run, which
 * shows no tags outside the packet data, tags go back into it. */
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
