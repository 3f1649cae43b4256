/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What a program at XDP includes: the packet as XDP gives it. Its first bytes are linear, and its head
 * moves freely within the driver's headroom. */
#ifndef ONPATH_XDP_H
#define ONPATH_XDP_H

#include "onpath.h"

/* The context of an XDP program. Pointers are 32 bits here and converted by the verifier. */
struct xdp_md {
    u32 data;
    u32 data_end;
    u32 data_meta;
    u32 ingress_ifindex;
    u32 rx_queue_index;
    u32 egress_ifindex;
} CONTEXT;

static long (*const bpf_xdp_adjust_head)(struct xdp_md *ctx, int delta) __attribute__((unused)) = (void *)44;
#ifdef ONPATH_OBSERVE
/* For test runs without a network: nothing is sent; user space reads the port that was chosen. */
static inline __attribute__((unused)) long bpf_redirect_map(void *map, u64 key, u64 flags)
{
    (void)map, (void)flags;
    onpath_observed.port = key;
    return 4; /* XDP_REDIRECT */
}
#else
static long (*const bpf_redirect_map)(void *map, u64 key, u64 flags) __attribute__((unused)) = (void *)51;
#endif
static long (*const bpf_xdp_load_bytes)(struct xdp_md *ctx, u32 offset, void *buf,
                                        u32 len) __attribute__((unused)) = (void *)189;
static long (*const bpf_xdp_store_bytes)(struct xdp_md *ctx, u32 offset, void *buf,
                                         u32 len) __attribute__((unused)) = (void *)190;

/* Makes the packet's first `from` bytes `to` bytes, whose content is unspecified: the caller writes them. Nothing
 * in front of them stays, so that `front` is 0. 0 if it could be done. */
INLINE long packet_resize(struct xdp_md *ctx, u32 front, u32 from, u32 to)
{
    (void)front;
    return bpf_xdp_adjust_head(ctx, from - to);
}

/* Bytes from an offset on to memory and back. The length is not 0; 0 if the packet has as many. */
#define packet_load_bytes bpf_xdp_load_bytes
#define packet_store_bytes bpf_xdp_store_bytes
/* Bytes in all. */
#define packet_length(ctx, data, data_end) ((u64)((data_end) - (data)))

/* Sends the packet out of a port; one that the map does not have aborts. In a test run, where nothing goes
 * out, the port is kept for the test to read. */
#define redirect_to(map, port) bpf_redirect_map(map, port, 0)

/* The same; one that the map does not have drops the packet, and counts it: the flags are what is returned for it. */
#define forward_to(map, port, drops)                                                                         \
    ({                                                                                                       \
        long sent_ = bpf_redirect_map(map, port, 1);                                                         \
        if (__builtin_expect(sent_ == 1, 0))                                                                 \
            count_drop(drops, DROPPED_PORT);                                                                 \
        sent_;                                                                                               \
    })

/* Sends the whole packet to user space, its length as 4 bytes in front. 0, or the error number. */
INLINE u32 send_packet_event(struct xdp_md *ctx, void *map, u64 length)
{
    u32 head = length;

    return -bpf_perf_event_output(ctx, map, (u64)head << 32 | BPF_F_CURRENT_CPU, &head, sizeof(head));
}

/* 0, which the verifier does not know: a loop that starts from it is one state to the verifier. */
INLINE u64 unknown_zero(struct xdp_md *ctx)
{
    u64 a = context_get(ctx, rx_queue_index), b = a;

    asm volatile("%0 -= %1" : "+r"(a) : "r"(b));
    return a;
}

#endif
