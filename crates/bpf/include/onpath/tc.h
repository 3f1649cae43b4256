/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Main header of tc programs: the packet as the kernel's stack has it.
 *
 * The program sees the bytes of the wire, on interfaces with Ethernet headers. These headers hide from it:
 * - VLAN tags outside the packet data, and the packet's protocol as the stack has noted it: vlan.h.
 * - Insertion and removal of bytes: resize.h. Outer headers around packets that are still to be segmented:
 *   tunnel.h.
 * - Checksums that a device computed: checksum_complete.h; checksums that are left to it: checksum_partial.h.
 * - Non-linear packets: packet_pull below.
 * - The packet type (for this host or for others): for_whom.h.
 *
 * If one of these cannot be kept consistent, that is a fault, and the packet is dropped. */
#ifndef ONPATH_TC_H
#define ONPATH_TC_H

#include "onpath.h"
#include "skb.h"
#include "checksum_partial.h"
#include "for_whom.h"
#include "send.h"
#include "vlan.h"

/* Prepares the packet, before all else. Returns 0 if the program may run. */
INLINE long packet_start(struct __sk_buff *ctx)
{
    observe_start();
    return context_get(ctx, vlan_present) ? vlan_into_packet(ctx) : 0;
}

/* Prepares a packet with an unchanged EtherType for passing on. Returns 0 if it may pass. */
INLINE long packet_end(struct __sk_buff *ctx)
{
    return context_get(ctx, vlan_present) ? packet_settle(ctx) : 0;
}

#define UNSEGMENTED 1

/* Makes the stack take the packet for what its EtherType now says; `protocol` is what the stack took it for when
 * it came in. Returns 0 if the stack can handle it.
 *
 * A packet that is still to be segmented cannot change its protocol: no receiver could parse that. Then the result
 * is UNSEGMENTED, and the packet is unchanged. Negative values are faults. As a global function, it is verified
 * once for all callers. */
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

/* Prepares a packet that may have a new EtherType for passing on. It is fast if the EtherType is unchanged. */
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

/* Linearises the packet's first `bytes` bytes. Returns 1 if it did: pointers into the packet must then be
 * recomputed. Returns 0 if they were linear already, or the packet has no more bytes. */
INLINE long packet_pull(struct __sk_buff *ctx, u32 bytes)
{
    u8 *data = context_pointer(ctx, data);
    u8 *data_end = context_pointer(ctx, data_end);
    u32 all = context_get(ctx, len), want = all < bytes ? all : bytes;

    return (u64)(data_end - data) < want && !bpf_skb_pull_data(ctx, want);
}

/* Copies bytes from an offset on to memory, and back. The length must not be 0. The result is 0 if the packet has
 * so many bytes. */
#define packet_load_bytes bpf_skb_load_bytes
#define packet_store_bytes(ctx, offset, from, len) bpf_skb_store_bytes(ctx, offset, from, len, 0)
/* Number of bytes in all. */
#define packet_length(ctx, data, data_end) context_get(ctx, len)

/* Returns the interface's MTU, without the Ethernet header; 0 if it is unknown. In a test run it is that of the
 * loopback interface. This helper costs more than reading the kernel's struct of the interface, but exists since
 * Linux 5.12, not only since 6.2. */
INLINE u32 packet_mtu(struct __sk_buff *ctx)
{
    u32 mtu = 0;

    bpf_check_mtu(ctx, 0, &mtu, 0, 0);
    return mtu;
}

/* Sends the whole packet to user space, preceded by its length in 4 bytes. Returns 0, or the error number. */
INLINE u32 send_packet_event(struct __sk_buff *ctx, void *map, u64 length)
{
    u32 head = length;

    return -bpf_perf_event_output(ctx, map, (u64)head << 32 | BPF_F_CURRENT_CPU, &head, sizeof(head));
}

/* Returns 0, which the verifier does not know. A loop that starts from it is one state to the verifier. */
INLINE u64 unknown_zero(struct __sk_buff *ctx)
{
    return less_itself(context_get(ctx, hash));
}

#endif
