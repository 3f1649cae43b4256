/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What the C of the native test target includes: a packet in a buffer, and the primitives that the emitter
 * asks of every target. */
#ifndef NATIVE_H
#define NATIVE_H

/* Calls a function with each number below `count` until it does not return 0. */
#define run_turns(count, turn, with) \
    for (u32 i_ = 0; i_ < (count) && !(turn)(i_, with); i_++) \
    ;
/* Bytes of the packet's front that are kept in memory, where they are. */
#define GATHERED_FRONT 2048

#include "onpath/arith.h"
#include "onpath/checksum.h"
#include "onpath/gathered.h"
#include "onpath/packet.h"
#include "onpath/search.h"
#include "onpath/types.h"
#include "onpath/wide.h"

#define goto_if_short(end, data_end, label) \
    if ((end) > (data_end))                   \
    goto label

#define HEADROOM 4096
#define LONGEST 65536

/* Turns of loops that one packet may take; a parser that takes more rejects it. */
#define MOST_TURNS 20000

static u32 turns;

#define may_leave(label)                                                                                              \
    do {                                                                                                              \
        if (turns++ >= MOST_TURNS)                                                                                    \
            goto label;                                                                                               \
    } while (0)

struct packet {
    u8 *data;
    u8 *data_end;
    u32 in_port;
    u32 out_port;
    u8 bytes[HEADROOM + LONGEST];
};

#define packet_length(ctx, start, end) ((u64)((end) - (start)))

/* The front is 0: it never stays. */
INLINE long packet_resize(struct packet *ctx, u32 front, u32 from, u32 to)
{
    u8 *data = ctx->data + from - to;

    (void)front;
    if (data < ctx->bytes || data > ctx->data_end)
        return -1;
    ctx->data = data;
    return 0;
}

INLINE long packet_load_bytes(struct packet *ctx, u32 offset, void *to, u32 len)
{
    if (ctx->data + offset + len > ctx->data_end)
        return -1;
    __builtin_memcpy(to, ctx->data + offset, len);
    return 0;
}

INLINE long packet_store_bytes(struct packet *ctx, u32 offset, const void *from, u32 len)
{
    if (ctx->data + offset + len > ctx->data_end)
        return -1;
    __builtin_memcpy(ctx->data + offset, from, len);
    return 0;
}

/* Whether every field of a key, under its mask, is in its range: `match` is mask, lowest and highest value,
 * each laid out as the key; `ends` holds where each field ends. */
INLINE int key_matches(const u8 *key, const u8 *match, const u32 *ends, u32 fields)
{
    u32 size = ends[fields - 1], at = 0;

    for (u32 i = 0; i < fields; i++) {
        int low = 0, high = 0;

        for (; at < ends[i]; at++) {
            u8 byte = key[at] & match[at];

            if (!low)
                low = byte - match[size + at];
            if (!high)
                high = byte - match[2 * size + at];
        }
        if (low < 0 || high > 0)
            return 0;
    }
    return 1;
}

/* The first entry that matches. An entry is `stride` bytes; its match is `match_at` bytes into it. */
INLINE void *find_entry(const void *entries, u32 count, u32 stride, u32 match_at, const u8 *key,
                        const u32 *ends, u32 fields)
{
    for (u32 i = 0; i < count; i++) {
        const u8 *entry = (const u8 *)entries + i * stride;

        if (key_matches(key, entry + match_at, ends, fields))
            return (void *)entry;
    }
    return NULL;
}

#endif
