/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Subset of the kernel's tc interface that generated programs use. */
#ifndef ONPATH_SKB_H
#define ONPATH_SKB_H

#include "bpf.h"

/* Context of a tc program. Pointers are 32 bits here and converted by the verifier. */
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
    u64 hwtstamp __attribute__((aligned(8)));
} CONTEXT;

static long (*const bpf_skb_store_bytes)(struct __sk_buff *ctx, u32 offset, const void *from, u32 len,
                                         u64 flags) __attribute__((unused)) = (void *)9;
static long (*const bpf_clone_redirect)(struct __sk_buff *ctx, u32 ifindex,
                                        u64 flags) __attribute__((unused)) = (void *)13;
static long (*const bpf_skb_vlan_push)(struct __sk_buff *ctx, u16 protocol,
                                       u16 tci) __attribute__((unused)) = (void *)18;
static long (*const bpf_skb_vlan_pop)(struct __sk_buff *ctx) __attribute__((unused)) = (void *)19;
static long (*const bpf_redirect)(u32 ifindex, u64 flags) __attribute__((unused)) = (void *)23;
static long (*const bpf_skb_load_bytes)(const struct __sk_buff *ctx, u32 offset, void *to,
                                        u32 len) __attribute__((unused)) = (void *)26;
static long (*const bpf_skb_change_tail)(struct __sk_buff *ctx, u32 len,
                                         u64 flags) __attribute__((unused)) = (void *)38;
static long (*const bpf_skb_pull_data)(struct __sk_buff *ctx, u32 len) __attribute__((unused)) = (void *)39;
static s64 (*const bpf_csum_update)(struct __sk_buff *ctx, u32 csum) __attribute__((unused)) = (void *)40;
static long (*const bpf_skb_adjust_room)(struct __sk_buff *ctx, int by, u32 mode,
                                         u64 flags) __attribute__((unused)) = (void *)50;
static long (*const bpf_check_mtu)(void *ctx, u32 ifindex, u32 *mtu, int by,
                                   u64 flags) __attribute__((unused)) = (void *)163;

enum {
    BPF_F_INGRESS = 1,
    BPF_ADJ_ROOM_NET = 0,
    BPF_ADJ_ROOM_MAC = 1,
    BPF_F_ADJ_ROOM_FIXED_GSO = 1,
    BPF_F_ADJ_ROOM_NO_CSUM_RESET = 1 << 5,
};

#define TC_NEXT -1 /* passes on, skipping the hook's remaining programs */
#define TC_STOP 2  /* dropped */
#define TC_SENT 7  /* redirected */

#define ETHERNET 14 /* bytes of an Ethernet header */
#define TYPE 12     /* offset of its EtherType */

/* EtherTypes in network byte order. */
#define TYPE_IP ((u16)BE16(0x0800))
#define TYPE_IPV6 ((u16)BE16(0x86dd))
#define TYPE_VLAN ((u16)BE16(0x8100))
#define TYPE_SERVICE_VLAN ((u16)BE16(0x88a8))

#define PIECE 64 /* bytes that are handled at a time */

/* Scratch memory for rare operations, which leaves the stack to the program. */
struct packet_work {
    u8 first[64];
    u8 rest[64];
    u8 piece[PIECE];
};

_Static_assert(sizeof(struct packet_work) == 192, "as in the description of its map");

/* Returns a number of bytes from 1 to PIECE, unchanged, such that every verifier knows its range. From a mask,
 * many verifiers learn more than from a comparison. */
INLINE u32 piece_size(u32 size)
{
    barrier_var(size);
    return ((size - 1) & (PIECE - 1)) + 1;
}

#endif
