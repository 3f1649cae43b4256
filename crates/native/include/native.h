/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Header of the native target's C: a packet in a buffer, maps in shared memory, and the primitives that the emitter,
 * tables, state and messages require of every target. */
#ifndef NATIVE_H
#define NATIVE_H

#include "onpath/shm.h"
#include "onpath/types.h"
#include "onpath/unverified.h"

#define HEADROOM 4096
#define LONGEST 131072

struct packet {
    u8 *data;
    u8 *data_end;
    u32 in_port;
    u32 out_port;
    u32 random[64];
    u32 drawn;
    u8 bytes[HEADROOM + LONGEST];
};

/* Current packet, memory of the program, and directory of its maps in use. */
static struct packet current;
static u8 *memory;
static u64 directory;

#define now_ns() shm_now(memory)
#define random_u32() (current.random[current.drawn++ % 64])
#define this_processor() 0u
#define unforeseen() ((u64)random_u32() << 32 | random_u32())

/* Memory. A map is identified by its index. */
#define map_find(map, key) shm_find(memory, directory, *(const u32 *)(map), key, this_processor())
#define globals (*(struct globals_of_program *)shm_place(memory, directory, GLOBALS))
#define SET_AT_LOADING
#include "onpath/seeds.h"
#define hash_seeds (*(const volatile struct hash_seeds *)(memory + SHM_SEEDS))

/* Writers in user space count no changes of sets. */
#define ordered_memory 0
#define VALUE_LOCK struct shm_lock
#define take_lock shm_take
#define give_lock_back shm_give_back
#define ring_reserve(ring, size) shm_reserve(memory, directory, *(const u32 *)(ring), size)
#define ring_submit(record) shm_submit(memory, directory)

/* Most iterations of loops for one packet. A parser that takes more rejects it. */
#define MOST_TURNS (1 << 23)

static u32 turns;

#define may_goto(label)                                                                                               \
    do {                                                                                                              \
        if (turns++ >= MOST_TURNS)                                                                                    \
            goto label;                                                                                               \
    } while (0)

#define may_goto_afresh may_goto

/* Packet. */
#define packet_length(ctx, start, end) ((u64)((end) - (start)))

/* `front` is 0: the front never stays in place. */
INLINE long packet_resize(struct packet *ctx, u32 front, u32 from, u32 to)
{
    u8 *data = ctx->data + from - to;

    (void)front;
    if (data < ctx->bytes || data > ctx->data_end)
        return -1;
    ctx->data = data;
    return 0;
}

INLINE long packet_copy(struct packet *ctx, u64 offset, u64 len, void *to, const void *from)
{
    if (offset + len > (u64)(ctx->data_end - ctx->data))
        return -1;
    memcpy(to ? to : ctx->data + offset, from ? from : ctx->data + offset, len);
    return 0;
}

#define packet_load_bytes(ctx, offset, to, len) packet_copy(ctx, offset, len, to, NULL)
#define packet_store_bytes(ctx, offset, from, len) packet_copy(ctx, offset, len, NULL, from)

/* Removes bytes at the packet's end. Returns 0 on success. */
INLINE long packet_shorten(struct packet *ctx, u32 by)
{
    if (by > ctx->data_end - ctx->data)
        return -1;
    ctx->data_end -= by;
    return 0;
}

#define GATHERED_FRONT 2048

#include "onpath/arith.h"
#include "onpath/checksum.h"
#include "onpath/counter.h"
#include "onpath/digest.h"
#include "onpath/gathered.h"
#include "onpath/hash.h"
#include "onpath/meter.h"
#include "onpath/packet.h"
#include "onpath/random.h"
#include "onpath/search.h"
#include "onpath/wide.h"

#define payload_sum(ctx, bits, length, odd) csum_bytes((ctx)->data + (bits) / 8, (length) - (bits) / 8, odd)

#endif
