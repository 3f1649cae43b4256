/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Packet type (PACKET_HOST etc.). The stack derives it from the destination address before a program at ingress
 * runs, and drops packets for other hosts. */
#ifndef ONPATH_FOR_WHOM_H
#define ONPATH_FOR_WHOM_H

#include "kernel_packet.h"
#include "skb.h"

static long (*const bpf_skb_change_type)(struct __sk_buff *ctx, u32 type) __attribute__((unused)) = (void *)32;

enum { FOR_US, FOR_ALL, FOR_SEVERAL, FOR_ANOTHER };

/* Reads the interface's current hardware address. Returns 0 on success. */
INLINE_DESCRIBED long own_address(struct __sk_buff *ctx, any16 *to)
{
    struct sk_buff___onpath *skb = (void *)ctx;
    struct net_device___onpath *device = NULL;
    const u8 *address = NULL;

    return bpf_probe_read_kernel(&device, sizeof(device),
                                 (const u8 *)skb + __builtin_preserve_field_info(skb->dev, 0)) ||
           bpf_probe_read_kernel(&address, sizeof(address),
                                 (const u8 *)device + __builtin_preserve_field_info(device->dev_addr, 0)) ||
           bpf_probe_read_kernel(to, 6, address);
}

/* Sets the packet type from the destination address, for a packet that passes to the stack and whose address the
 * program may have changed. */
INLINE_DESCRIBED void packet_for_whom(struct __sk_buff *ctx)
{
    u8 *data = context_pointer(ctx, data);
    u8 *data_end = context_pointer(ctx, data_end);
    any16 *to = (any16 *)data;
    any16 own[3] = {};
    u32 whom = FOR_ANOTHER;

    if (data + ETHERNET > data_end)
        return;
    if (data[0] & 1) {
        whom = (to[0] & to[1] & to[2]) == 0xffff ? FOR_ALL : FOR_SEVERAL;
    } else {
        if (own_address(ctx, own))
            return; /* the type stays as it was */
        if (to[0] == own[0] && to[1] == own[1] && to[2] == own[2])
            whom = FOR_US;
    }
    if (context_get(ctx, pkt_type) != whom)
        bpf_skb_change_type(ctx, whom);
}

#endif
