/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Update of the kernel's complete checksum (CHECKSUM_COMPLETE).
 *
 * A device may report the sum of all bytes of a received packet. The stack derives from it whether the transport
 * checksum is right. When the program changes bytes, it updates the sum by the difference of the sums of those
 * bytes before and after. */
#ifndef ONPATH_CHECKSUM_COMPLETE_H
#define ONPATH_CHECKSUM_COMPLETE_H

#include "bpf.h"
#include "skb.h"

/* One's complement sums of 32 bits. */
INLINE u32 sum_add(u32 a, u32 b)
{
    u32 sum = a + b;

    return sum + (sum < a);
}

INLINE u32 sum_sub(u32 a, u32 b)
{
    return sum_add(a, ~b);
}

struct summing {
    struct __sk_buff *ctx;
    struct packet_work *work;
    u32 at;
    u32 end;
    u32 sum;
};

STATIC_FUNC long sum_piece(u32 turn, struct summing *s)
{
    u32 left = s->end - s->at, size = left < PIECE ? left : PIECE;

    (void)turn;
    __builtin_memset(s->work->piece, 0, PIECE);
    if (!size || bpf_skb_load_bytes(s->ctx, s->at, s->work->piece, piece_size(size)))
        return 1;
    s->sum = bpf_csum_diff(NULL, 0, s->work->piece, PIECE, s->sum);
    s->at += size;
    return 0;
}

/* Returns the sum of the packet's bytes from an even offset up to another offset. */
STATIC_FUNC u32 sum_of_bytes(struct __sk_buff *ctx, u32 from, u32 to)
{
    u32 zero = 0;
    struct summing s = {.ctx = ctx, .work = bpf_map_lookup_elem(&packet_work, &zero), .at = from, .end = to};

    if (s.work && from < to)
        bpf_loop((to - from + PIECE - 1) / PIECE, sum_piece, &s, 0);
    return s.sum;
}

#define HAS_SUM (1ull << 63)

/* Returns the sum of the bytes that the program leaves unchanged, together with the packet's length. */
GLOBAL_FUNC u64 sum_of_rest(struct __sk_buff *ctx, u32 sum, u32 from, u32 to)
{
    u32 length = context_get(ctx, len);

    return HAS_SUM | (u64)length << 32 | sum_sub(sum, sum_of_bytes(ctx, from, length < to ? length : to));
}

/* Runs before the program changes bytes; returns 0 if the packet has no sum. The sum begins at the offset `from`;
 * the bytes that the program may change end before the offset `to`. */
INLINE u64 packet_sum_start(struct __sk_buff *ctx, u32 from, u32 to)
{
    s64 sum;

    /* Egress: a locally generated packet has no such sum. */
    if (!from && !context_get(ctx, ingress_ifindex))
        return 0;
    sum = bpf_csum_update(ctx, 0);
    return sum < 0 ? 0 : sum_of_rest(ctx, sum, from, to);
}

GLOBAL_FUNC long packet_sum_update(struct __sk_buff *ctx, u64 rest, u32 from, u32 to)
{
    u32 before = rest >> 32 & 0x7fffffff, length = context_get(ctx, len), sum = rest;
    s64 now = bpf_csum_update(ctx, 0);

    if (now < 0)
        return 0;
    /* Bytes that move by an odd distance have another sum. */
    if ((before ^ length) & 1)
        sum = sum_of_bytes(ctx, from, length);
    else
        sum = sum_add(sum, sum_of_bytes(ctx, from, to < before ? to + length - before : length));
    bpf_csum_update(ctx, sum_sub(sum, now));
    return 0;
}

/* Updates the packet's sum after the program's last change. */
#define packet_sum_end(ctx, rest, from, to)                                                                  \
    do {                                                                                                     \
        if (rest)                                                                                            \
            packet_sum_update(ctx, rest, from, to);                                                          \
    } while (0)

#endif
