/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Checksums that a device computed over the whole packet, or is to compute.
 *
 * A device may hand up the sum of all bytes of a packet that it received, from which the stack tells whether the
 * transport checksum is right. When the program changes bytes, the sum has to follow: by the difference of the
 * sums of the part that it may change, before and after. */
#ifndef ONPATH_OFFLOAD_H
#define ONPATH_OFFLOAD_H

#include "bpf.h"
#include "checksum.h"
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

OUTLINE long sum_piece(u32 turn, struct summing *s)
{
    u32 left = s->end - s->at, size = left < PIECE ? left : PIECE;

    (void)turn;
    barrier_var(size);
    __builtin_memset(s->work->piece, 0, PIECE);
    if (size - 1 >= PIECE || bpf_skb_load_bytes(s->ctx, s->at, s->work->piece, size))
        return 1;
    s->sum = bpf_csum_diff(NULL, 0, s->work->piece, PIECE, s->sum);
    s->at += size;
    return 0;
}

/* The sum of the packet's bytes from an even offset up to another one. */
OUTLINE u32 sum_of_bytes(struct __sk_buff *ctx, void *map, u32 from, u32 to)
{
    u32 zero = 0;
    struct summing s = {.ctx = ctx, .work = bpf_map_lookup_elem(map, &zero), .at = from, .end = to};

    if (s.work && from < to)
        bpf_loop((to - from + PIECE - 1) / PIECE, sum_piece, &s, 0);
    return s.sum;
}

#define HAS_SUM (1ull << 63)

/* The sum of what the program leaves alone, with the packet's length. */
OUTLINE u64 sum_of_rest(struct __sk_buff *ctx, void *map, u32 sum, u32 from, u32 to)
{
    u32 length = ctx->len;

    return HAS_SUM | (u64)length << 32 | sum_sub(sum, sum_of_bytes(ctx, map, from, length < to ? length : to));
}

/* Before the program changes bytes: 0 if there is no sum of the packet. It begins at the offset `from`; what the
 * program may change ends before the offset `to`. */
INLINE u64 packet_sum_start_with(struct __sk_buff *ctx, void *map, u32 from, u32 to)
{
    s64 sum;

    /* Egress: a packet that was made here has no such sum. */
    if (!from && !ctx->ingress_ifindex)
        return 0;
    sum = bpf_csum_update(ctx, 0);
    return sum < 0 ? 0 : sum_of_rest(ctx, map, sum, from, to);
}

#define packet_sum_start(ctx, from, to) packet_sum_start_with(ctx, &packet_work, from, to)

OUTLINE void packet_sum_update(struct __sk_buff *ctx, void *map, u64 rest, u32 from, u32 to)
{
    u32 before = rest >> 32 & 0x7fffffff, length = ctx->len, sum = rest;
    s64 now = bpf_csum_update(ctx, 0);

    if (now < 0)
        return;
    /* What moves by an odd number of bytes has another sum. */
    if ((before ^ length) & 1)
        sum = sum_of_bytes(ctx, map, from, length);
    else
        sum = sum_add(sum, sum_of_bytes(ctx, map, from, to < before ? to + length - before : length));
    bpf_csum_update(ctx, sum_sub(sum, now));
}

/* When the program has changed what it wants to. */
#define packet_sum_end(ctx, rest, from, to)                                                                  \
    do {                                                                                                     \
        if (rest)                                                                                            \
            packet_sum_update(ctx, &packet_work, rest, from, to);                                                          \
    } while (0)

/* The kernel's own packet, as much of it as is needed; the loader finds where the field is. */
struct sk_buff___onpath {
    u8 ip_summed : 2;
} __attribute__((preserve_access_index));

extern void *bpf_cast_to_kern_ctx(void *ctx) __attribute__((section(".ksyms")));

/* Whether a device (or the stack) is to compute the transport checksum. Needs Linux 6.2. */
INLINE u32 checksum_is_open(struct __sk_buff *ctx)
{
    struct sk_buff___onpath *skb = bpf_cast_to_kern_ctx(ctx);
    const u8 *at = (const u8 *)skb + __builtin_preserve_field_info(skb->ip_summed, 0);
    u64 bits = 0;

    switch (__builtin_preserve_field_info(skb->ip_summed, 1)) {
    case 1:
        bits = *at;
        break;
    case 2:
        bits = *(const any16 *)at;
        break;
    case 4:
        bits = *(const any32 *)at;
        break;
    case 8:
        bits = *(const any64 *)at;
        break;
    }
    bits <<= __builtin_preserve_field_info(skb->ip_summed, 4);
    bits >>= __builtin_preserve_field_info(skb->ip_summed, 5);
    return bits == 3; /* CHECKSUM_PARTIAL */
}

/* What a transport checksum becomes when a word that it covers changes; `pseudo` if the word belongs to the
 * pseudo header. An open checksum is the sum of the pseudo header, not complemented. */
INLINE u32 l4_csum_replace4(struct __sk_buff *ctx, u32 csum, u32 old, u32 new, u32 pseudo)
{
    if (!checksum_is_open(ctx))
        return csum_replace4(csum, old, new);
    return pseudo ? (u16)~csum_replace4((u16)~csum, old, new) : csum;
}

INLINE u32 l4_csum_replace2(struct __sk_buff *ctx, u32 csum, u32 old, u32 new, u32 pseudo)
{
    if (!checksum_is_open(ctx))
        return csum_replace2(csum, old, new);
    return pseudo ? (u16)~csum_replace2((u16)~csum, old, new) : csum;
}

#endif
