/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What a program at XDP includes that takes packets in several buffers: of jumbo frames, and those that are still to be
 * segmented. The first buffer is linear, and has what the parser reads; what is behind it is read by bpf_xdp_load_bytes. */
#ifndef ONPATH_FRAGMENTS_H
#define ONPATH_FRAGMENTS_H

#include "xdp.h"

static u64 (*const bpf_xdp_get_buff_len)(struct xdp_md *ctx) __attribute__((unused)) = (void *)188;

/* Bytes in all buffers. */
#undef packet_length
#define packet_length(ctx, data, data_end) bpf_xdp_get_buff_len(ctx)

/* Whether a packet's first buffer ends within its first `bytes` bytes, and the packet does not: its parser would take it for
 * one that is too short. */
INLINE u32 packet_front_is_cut(struct xdp_md *ctx, u32 bytes)
{
    u64 linear = context_pointer(ctx, data_end) - context_pointer(ctx, data);

    return linear < bytes && linear < bpf_xdp_get_buff_len(ctx);
}

#endif
