/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Header for XDP programs that take packets in several buffers: jumbo frames, and packets that are still to be
 * segmented. The first buffer is linear and must contain all that the parser reads. Bytes after it are read by
 * bpf_xdp_load_bytes. */
#ifndef ONPATH_FRAGMENTS_H
#define ONPATH_FRAGMENTS_H

#include "xdp.h"

static u64 (*const bpf_xdp_get_buff_len)(struct xdp_md *ctx) __attribute__((unused)) = (void *)188;

/* Number of bytes in all buffers. */
#undef packet_length
#define packet_length(ctx, data, data_end) bpf_xdp_get_buff_len(ctx)

/* Returns true if a packet's first buffer has fewer than `bytes` bytes, although the packet is longer. The parser
 * would take such a packet for one that is too short. */
INLINE u32 packet_front_is_cut(struct xdp_md *ctx, u32 bytes)
{
    u64 linear = context_pointer(ctx, data_end) - context_pointer(ctx, data);

    return linear < bytes && linear < bpf_xdp_get_buff_len(ctx);
}

#endif
