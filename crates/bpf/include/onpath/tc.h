/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What a program at traffic control includes: the packet as the kernel's stack has it.
 *
 * The program sees the bytes of the wire, on interfaces with Ethernet headers. What it must know nothing of:
 * - VLAN tags beside the packet, and what the stack notes of a packet's protocol: vlan.h.
 * - Bytes inserted and removed: resize.h. Outer headers around packets that are still to be segmented: tunnel.h.
 * - Checksums that a device computed: checksum_complete.h; that it is to compute: checksum_partial.h.
 * - Non-linear packets: packet_pull below.
 * - Whom a packet is for: for_whom.h.
 * What cannot be kept right is a fault, and the packet is dropped. */
#ifndef ONPATH_TC_H
#define ONPATH_TC_H

#include "onpath.h"
#include "skb.h"
#include "checksum_partial.h"
#include "for_whom.h"
#include "send.h"
#include "vlan.h"

/* Before anything else. 0 if the program may run. */
INLINE long packet_start(struct __sk_buff *ctx)
{
    observe_start();
    return context_get(ctx, vlan_present) ? vlan_into_packet(ctx) : 0;
}

/* A packet that passes and whose EtherType is the one it came with. 0 if it may. */
INLINE long packet_end(struct __sk_buff *ctx)
{
    return context_get(ctx, vlan_present) ? packet_settle(ctx) : 0;
}

#define UNSEGMENTED 1

/* Has the stack take a packet for what its EtherType says now; `protocol` is what the stack took it for when it came. 0 if the stack can
 * handle it. A packet that is still to be segmented cannot become one of another protocol: no receiver could parse that. It is
 * UNSEGMENTED then, and nothing has been done to it; negative values are faults. The verifier goes through it once for all callers. */
GLOBAL_FUNC long packet_become(struct __sk_buff *ctx, u32 protocol)
{
    if (context_get(ctx, gso_size)) {
        u16 type;

        if (bpf_skb_load_bytes(ctx, TYPE, &type, sizeof(type)) ||
            ((type == TYPE_VLAN || type == TYPE_SERVICE_VLAN) &&
             bpf_skb_load_bytes(ctx, TYPE + 4, &type, sizeof(type))))
            return -1;
        if (type != protocol)
            return UNSEGMENTED;
    }
    return packet_settle(ctx) ? -1 : 0;
}

/* A packet that passes and may have another EtherType now: the same, and quickly where it has not. */
INLINE long packet_end_as(struct __sk_buff *ctx, u32 protocol)
{
    u8 *data = context_pointer(ctx, data);
    u8 *data_end = context_pointer(ctx, data_end);

    if (data + ETHERNET > data_end)
        return -1;
    if (!context_get(ctx, vlan_present) && *(any16 *)(data + TYPE) == (u16)context_get(ctx, protocol))
        return 0;
    return packet_become(ctx, protocol);
}

/* Linearises the packet's first `bytes` bytes. 1 if it did: pointers into the packet are to be made
 * anew. 0 if they were linear, or the packet has no more than it showed. */
INLINE long packet_pull(struct __sk_buff *ctx, u32 bytes)
{
    u8 *data = context_pointer(ctx, data);
    u8 *data_end = context_pointer(ctx, data_end);
    u32 all = context_get(ctx, len), want = all < bytes ? all : bytes;

    return (u64)(data_end - data) < want && !bpf_skb_pull_data(ctx, want);
}

/* Bytes from an offset on to memory and back. The length is not 0; 0 if the packet has as many. */
#define packet_load_bytes bpf_skb_load_bytes
#define packet_store_bytes(ctx, offset, from, len) bpf_skb_store_bytes(ctx, offset, from, len, 0)
/* Bytes in all. */
#define packet_length(ctx, data, data_end) context_get(ctx, len)

/* The interface's, without the Ethernet header; 0 if it is not known. In a test run that of the loopback
 * interface. The kernel's function costs more than reading its own struct of the interface, but is there
 * since Linux 5.12, not 6.2. */
INLINE u32 packet_mtu(struct __sk_buff *ctx)
{
    u32 mtu = 0;

    bpf_check_mtu(ctx, 0, &mtu, 0, 0);
    return mtu;
}

/* Sends the whole packet to user space, its length as 4 bytes in front. 0, or the error number. */
INLINE u32 send_packet_event(struct __sk_buff *ctx, void *map, u64 length)
{
    u32 head = length;

    return -bpf_perf_event_output(ctx, map, (u64)head << 32 | BPF_F_CURRENT_CPU, &head, sizeof(head));
}

/* 0, which the verifier does not know: a loop that starts from it is one state to the verifier. */
INLINE u64 unknown_zero(struct __sk_buff *ctx)
{
    u64 a = context_get(ctx, hash), b = a;

    asm volatile("%0 -= %1" : "+r"(a) : "r"(b));
    return a;
}

#endif
