/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Last bytes of TCP streams. Each stream has a ring: the byte with sequence number n is at n modulo its size. */
#ifndef ONPATH_STREAM_BYTES_H
#define ONPATH_STREAM_BYTES_H

#include "message.h"

#define STREAM_RING 16384
/* Bytes that are loaded at once. A ring has room for that many behind its end. */
#define STREAM_PIECE 2048
/* A ticket has the stream's slot in its low bits, and the generation of its bytes above. Slot 0 counts streams. */
#define STREAM_GENERATION (1ull << 17)
#define STREAM_SLOT (STREAM_GENERATION - 1)
/* Marks a slot whose bytes change or are read. */
#define STREAM_BUSY 0xffffffffffffffffull
struct stream_ring {
    u64 ticket;
    u64 begun; /* number of the stream, from 1 on; 0 if the slot is free */
    u8 bytes[STREAM_RING + STREAM_PIECE];
};

/* Returns `length` if a packet has that many bytes from an offset on, where reads may begin, and if a ring has room
 * for them. Otherwise, returns 0. */
INLINE u32 stream_loaded(u64 from, u32 length, u64 packet_length)
{
    u64 end = from + length;

    return end <= packet_length && end <= PAYLOAD_LAST_BEGIN + 1 && length <= STREAM_RING ? length : 0;
}

/* Returns the number of a new stream; 0 for one that has a ticket. */
INLINE u64 stream_begin(struct stream_ring *all, u64 ticket)
{
    return ticket ? 0 : __sync_fetch_and_add(&all->begun, 1) + 1;
}

/* Slots of which a new stream takes one. Streams that begin one after the other do not try the same ones. */
#define STREAM_CANDIDATES 8

/* Returns the slot of a ticket, or the first one that a new stream may take. */
INLINE u32 stream_slot(u64 ticket, u64 begun, u32 slots)
{
    return ticket ? ticket & STREAM_SLOT : 1 + (begun - 1) * STREAM_CANDIDATES % slots;
}

/* Returns the slot behind another. */
INLINE u32 stream_behind(u32 slot, u32 slots)
{
    return slot == slots ? 1 : slot + 1;
}

/* Takes a slot for bytes under a ticket, or for a new stream if it is 0. Returns the ticket that it had; 0 if these
 * bytes are gone, or if another processor has the slot. */
INLINE u64 stream_take(struct stream_ring *ring, u64 ticket, u32 slot)
{
    u64 had = ticket;

    if (!ticket)
        had = __sync_fetch_and_add(&ring->ticket, 0);
    if (had == STREAM_BUSY || __sync_val_compare_and_swap(&ring->ticket, had, STREAM_BUSY) != had)
        return 0;
    return had ? had : slot;
}

/* Gives a slot back under a ticket. */
INLINE void stream_give(struct stream_ring *ring, u64 ticket)
{
    (void)__sync_lock_test_and_set(&ring->ticket, ticket);
}

/* Moves the bytes behind the ring's end to its beginning, in whole words. */
INLINE void stream_wrap(u8 *bytes, u32 count)
{
    for (;;) {
        u32 at = (count - 1) & (STREAM_PIECE - 8);

        *(any64 *)(bytes + at) = *(const any64 *)(bytes + STREAM_RING + at);
        if (count <= 8)
            return;
        count -= 8;
        forget_bounds(count);
        may_goto(end);
    }
end:
    return;
}

/* Loads `length` bytes, 1 at least, to a ring. Words that begin at the ring's last bytes have its first ones again
 * behind its end. Returns 0 if the packet has them. */
INLINE long stream_load(void *ctx, u64 from, u8 *bytes, u32 sequence, u32 length)
{
    for (;;) {
        u32 at = sequence & (STREAM_RING - 1), last = length - 1, end;

        if (last >= STREAM_PIECE)
            last = STREAM_PIECE - 1;
        barrier_var(last);
        last &= STREAM_PIECE - 1;
        if (packet_load_bytes(ctx, from, bytes + at, last + 1))
            return 1;
        end = at + last + 1;
        if (end > STREAM_RING)
            stream_wrap(bytes, end - STREAM_RING);
        *(any64 *)(bytes + STREAM_RING) = *(const any64 *)bytes;
        if (length <= STREAM_PIECE)
            return 0;
        length -= STREAM_PIECE;
        sequence += STREAM_PIECE;
        from += STREAM_PIECE;
        forget_bounds(length);
        forget_bounds(sequence);
        forget_wide_bounds(from);
        may_goto(endless);
    }
endless:
    return 1;
}

/* Writes bytes of a packet behind others of a stream. Returns the ticket that leads to all of them. */
INLINE u64 stream_hold(void *ctx, struct stream_ring *ring, u32 slot, u64 ticket, u64 begun, u64 from, u32 sequence, u32 length)
{
    u64 had = stream_take(ring, ticket, slot);

    if (!had)
        return 0;
    if (begun)
        ring->begun = begun;
    had += STREAM_GENERATION;
    if (stream_load(ctx, from, ring->bytes, sequence, length)) {
        /* They are partly overwritten. */
        stream_give(ring, had);
        return 0;
    }
    stream_give(ring, had);
    return had;
}

/* Compares the first `length` bytes in memory, 1 at least, with those from a sequence number on. Returns 1 if they are
 * equal. */
INLINE u32 stream_equal_words(const u8 *bytes, u32 mask, const u8 *ring, u32 sequence, u32 length)
{
    u64 unused = -8 * (u64)length & 63;
    u64 differing = 0;

    for (;;) {
        u32 at = (length - 1) & mask & (STREAM_RING - 8);
        u32 there = (sequence + at) & (STREAM_RING - 1);

        differing |= (load_be64(bytes + at) ^ load_be64(ring + there)) >> unused;
        unused = 0;
        if (length <= 8)
            return !differing;
        length -= 8;
        forget_bounds(length);
        forget_wide_bounds(differing);
        may_goto(endless);
    }
endless:
    return 0;
}

/* Tells if bytes in memory are those that a ticket leads to. */
INLINE u32 stream_equal(struct stream_ring *ring, u64 ticket, const u8 *bytes, u32 mask, u32 sequence, u32 length)
{
    u32 is_equal;

    if (!ticket || stream_take(ring, ticket, 0) != ticket)
        return 0;
    is_equal = stream_equal_words(bytes, mask, ring->bytes, sequence, length);
    stream_give(ring, ticket);
    return is_equal;
}

/* Lets another stream have the slot of a ticket. Returns 1 if it led to bytes. */
INLINE u32 stream_release(struct stream_ring *ring, u64 ticket)
{
    if (!ticket || stream_take(ring, ticket, 0) != ticket)
        return 0;
    ring->begun = 0;
    stream_give(ring, ticket + STREAM_GENERATION);
    return 1;
}

/* Copies `length` bytes that a ticket leads to, 1 at least, to memory. Returns 0 if they are there. */
INLINE long stream_restore(struct stream_ring *ring, u64 ticket, u8 *bytes, u32 mask, u32 sequence, u32 length)
{
    if (__sync_fetch_and_add(&ring->ticket, 0) != ticket)
        return 1;
    for (;;) {
        u32 at = (length - 1) & mask & (STREAM_RING - 8);
        u32 there = (sequence + at) & (STREAM_RING - 1);

        *(any64 *)(bytes + at) = *(const any64 *)(ring->bytes + there);
        if (length <= 8)
            break;
        length -= 8;
        forget_bounds(length);
        may_goto(end);
    }
end:
    return __sync_fetch_and_add(&ring->ticket, 0) != ticket;
}

#endif
