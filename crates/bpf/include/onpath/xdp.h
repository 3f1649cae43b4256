/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Main header of XDP programs: the packet as XDP gives it. Its first bytes are linear, and its start moves freely
 * within the driver's headroom. */
#ifndef ONPATH_XDP_H
#define ONPATH_XDP_H

#include "onpath.h"

/* Context of an XDP program. Pointers are 32 bits here and converted by the verifier. */
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
/* For test runs without a network: nothing is sent; user space reads the chosen port. */
static inline __attribute__((unused)) long bpf_redirect_map(void *map, u64 key, u64 flags)
{
    (void)map, (void)flags;
    onpath_observed.port = key;
    return 4; /* XDP_REDIRECT */
}
#else
static long (*const bpf_redirect_map)(void *map, u64 key, u64 flags) __attribute__((unused)) = (void *)51;
#endif
static long (*const bpf_xdp_adjust_tail)(struct xdp_md *ctx, int delta) __attribute__((unused)) = (void *)65;
static long (*const bpf_xdp_load_bytes)(struct xdp_md *ctx, u32 offset, void *buf,
                                        u32 len) __attribute__((unused)) = (void *)189;
static long (*const bpf_xdp_store_bytes)(struct xdp_md *ctx, u32 offset, void *buf,
                                         u32 len) __attribute__((unused)) = (void *)190;

/* Replaces the packet's first `from` bytes by `to` bytes with unspecified content: the caller writes them. The
 * packet keeps no bytes before them, so `front` is 0. Returns 0 on success. */
INLINE long packet_resize(struct xdp_md *ctx, u32 front, u32 from, u32 to)
{
    (void)front;
    return bpf_xdp_adjust_head(ctx, from - to);
}

/* Removes bytes at the packet's end. Returns 0 on success. */
INLINE long packet_shorten(struct xdp_md *ctx, u32 by)
{
    return bpf_xdp_adjust_tail(ctx, -by);
}

/* Copies bytes from an offset on to memory, and back. The length must not be 0. The result is 0 if the packet has
 * so many bytes. */
#define packet_load_bytes bpf_xdp_load_bytes
#define packet_store_bytes bpf_xdp_store_bytes
/* Number of bytes in all. */
#define packet_length(ctx, data, data_end) ((u64)((data_end) - (data)))

/* Sends the packet out of a port; a port that the map lacks aborts. In a test run, which sends nothing, the port
 * is recorded for the test to read. */
#define redirect_to(map, port) bpf_redirect_map(map, port, 0)

/* Sends the packet out of a port; a port that the map lacks drops and counts the packet. The flags of
 * bpf_redirect_map are the result for that case. */
#define forward_to(map, port, drops)                                                                         \
    ({                                                                                                       \
        long sent_ = bpf_redirect_map(map, port, 1);                                                         \
        if (__builtin_expect(sent_ == 1, 0))                                                                 \
            count_drop(drops, DROPPED_PORT);                                                                 \
        sent_;                                                                                               \
    })

/* Sends the whole packet to user space, preceded by its length in 4 bytes. Returns 0, or the error number. */
INLINE u32 send_packet_event(struct xdp_md *ctx, void *map, u64 length)
{
    u32 head = length;

    return -bpf_perf_event_output(ctx, map, (u64)head << 32 | BPF_F_CURRENT_CPU, &head, sizeof(head));
}

/* Returns 0, which the verifier does not know. A loop that starts from it is one state to the verifier. */
INLINE u64 unknown_zero(struct xdp_md *ctx)
{
    return less_itself(context_get(ctx, rx_queue_index));
}

#endif
