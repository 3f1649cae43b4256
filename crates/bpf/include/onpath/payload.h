/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Internet checksum of the payload that the parser left, which need not be linear. It is copied and summed piece
 * by piece. */
#ifndef ONPATH_PAYLOAD_H
#define ONPATH_PAYLOAD_H

#include "bpf.h"
#include "checksum.h"

#define PAYLOAD_PIECE 512 /* most bytes that the kernel sums at once: a power of two */

struct payload_piece {
    u32 word[PAYLOAD_PIECE / 4];
};

struct payload_rest {
    void *ctx;
    struct payload_piece *piece;
    u32 at;
    u32 left;
    u32 sum;
};

/* Sums the next piece, padded with zeros to whole words. */
STATIC_FUNC long payload_turn(u32 turn, struct payload_rest *rest)
{
    u32 size = rest->left < PAYLOAD_PIECE ? rest->left : PAYLOAD_PIECE, last;

    (void)turn;
    if (!size)
        return 1;
    /* From a mask, many verifiers learn more than from a comparison. */
    barrier_var(size);
    last = (size - 1) & (PAYLOAD_PIECE - 1);
    size = last + 1;
    last /= 4;
    barrier_var(last);
    last &= PAYLOAD_PIECE / 4 - 1;
    rest->piece->word[last] = 0;
    if (packet_load_bytes(rest->ctx, rest->at, rest->piece, size))
        return 1;
    rest->sum = bpf_csum_diff(NULL, 0, rest->piece, 4 * last + 4, rest->sum);
    rest->at += size;
    rest->left -= size;
    return 0;
}

/* Returns the sum of the packet's bytes from the bit `bits` on, as 16-bit words in network byte order. If `odd` is
 * set, the words begin one byte earlier. `bits` and `length` refer to the packet as it was parsed; its payload has
 * since moved by `moved` bytes. */
INLINE u32 payload_sum(void *ctx, void *pieces, u32 bits, u32 length, u32 moved, u32 odd)
{
    u32 zero = 0, from = bits / 8, sum;
    struct payload_rest rest = {.ctx = ctx, .at = from + moved};

    rest.piece = bpf_map_lookup_elem(pieces, &zero);
    if (!rest.piece || from >= length)
        return 0;
    rest.left = length - from;
    bpf_loop((rest.left + PAYLOAD_PIECE - 1) / PAYLOAD_PIECE, payload_turn, &rest, 0);
    sum = csum_fold(rest.sum);
    return odd ? (u16)(sum << 8 | sum >> 8) : sum;
}

#endif
