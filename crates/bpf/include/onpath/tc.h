/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What a program at traffic control includes: the packet as the kernel's stack has it. */
#ifndef ONPATH_TC_H
#define ONPATH_TC_H

#include "onpath.h"

/* The context of a program at traffic control. Pointers are 32 bits here and converted by the verifier. */
struct __sk_buff {
    u32 len;
    u32 pkt_type;
    u32 mark;
    u32 queue_mapping;
    u32 protocol;
    u32 vlan_present;
    u32 vlan_tci;
    u32 vlan_proto;
    u32 priority;
    u32 ingress_ifindex;
    u32 ifindex;
    u32 tc_index;
    u32 cb[5];
    u32 hash;
    u32 tc_classid;
    u32 data;
    u32 data_end;
    u32 napi_id;
    u32 family;
    u32 remote_ip4;
    u32 local_ip4;
    u32 remote_ip6[4];
    u32 local_ip6[4];
    u32 remote_port;
    u32 local_port;
    u32 data_meta;
    u64 flow_keys __attribute__((aligned(8)));
    u64 tstamp;
    u32 wire_len;
    u32 gso_segs;
    u64 sk __attribute__((aligned(8)));
    u32 gso_size;
    u8 tstamp_type;
    u64 hwtstamp;
};

static long (*const bpf_skb_store_bytes)(struct __sk_buff *ctx, u32 offset, const void *from, u32 len,
                                         u64 flags) __attribute__((unused)) = (void *)9;
static long (*const bpf_skb_load_bytes)(const struct __sk_buff *ctx, u32 offset, void *to,
                                        u32 len) __attribute__((unused)) = (void *)26;
static long (*const bpf_skb_pull_data)(struct __sk_buff *ctx, u32 len) __attribute__((unused)) = (void *)39;
static long (*const bpf_skb_adjust_room)(struct __sk_buff *ctx, int by, u32 mode,
                                         u64 flags) __attribute__((unused)) = (void *)50;

#define TC_NEXT -1 /* on its way, past whatever else runs at the hook */
#define TC_STOP 2  /* dropped */

/* Makes the packet's first `from` bytes `to` bytes, whose content is not said: the caller writes them. 0 if it
 * could be done. */
INLINE long packet_resize_head(struct __sk_buff *ctx, u32 from, u32 to)
{
    return bpf_skb_adjust_room(ctx, to - from, 1, 0);
}

/* Bytes from an offset on to memory and back. The length is not 0; 0 if the packet has as many. */
#define packet_load_bytes bpf_skb_load_bytes
#define packet_store_bytes(ctx, offset, from, len) bpf_skb_store_bytes(ctx, offset, from, len, 0)
/* Bytes in all. */
#define packet_length(ctx, data, data_end) ((u64)(ctx)->len)

/* Sends the whole packet to user space, its length as 4 bytes in front. 0, or the error number. */
INLINE u32 send_packet_event(struct __sk_buff *ctx, void *map, u64 length)
{
    u32 head = length;

    return -bpf_perf_event_output(ctx, map, (u64)head << 32 | BPF_F_CURRENT_CPU, &head, sizeof(head));
}

/* 0, which the verifier does not know: a loop that starts from it is one state to the verifier. */
INLINE u64 unknown_zero(struct __sk_buff *ctx)
{
    u64 a = ctx->hash, b = a;

    asm volatile("%0 -= %1" : "+r"(a) : "r"(b));
    return a;
}

#endif
