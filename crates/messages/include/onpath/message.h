/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Messages of applications: the payload is copied to memory, and parsed there (`parse_message.h`). Each access is
 * masked to that memory. So a verifier tracks no offset, and the paths through a parser merge, since nothing
 * distinguishes their states. */
#ifndef ONPATH_MESSAGE_H
#define ONPATH_MESSAGE_H

#include "packet.h"
#include "parse_message.h"

/* Last byte of a packet that a read may begin at: no target loads bytes that begin after it. */
#define PAYLOAD_LAST_BEGIN 0xffff
/* Number of bytes that a search covers, and number of them in memory at once. A load from the last byte that a read
 * may begin at has this number of bytes too, and searches end there. */
#define PAYLOAD_REACH 65536
#define PAYLOAD_AT_ONCE 16384
#define PAYLOAD_END (PAYLOAD_LAST_BEGIN + PAYLOAD_AT_ONCE)
/* Length of a message that ends with the packet. */
#define MESSAGE_ANY_LENGTH 0xffffffffu
/* First bytes of a message that continues in a later packet. A ticket leads to their slot until that slot is reused.
 * Slot 0 has the last ticket that was issued. While bytes change, their slot has no valid ticket. */
#define MESSAGE_HEADS 1024
#define MESSAGE_CHANGING 0xffffffffffffffffull
#define MESSAGE_HEAD_BYTES 4096
struct message_head {
    u64 ticket;
    u32 length;
    u32 unused;
    u8 bytes[MESSAGE_HEAD_BYTES + 8];
};

/* Copies the message. Returns 0 if the packet has all bytes. */
INLINE long message_copy(void *ctx, u64 from, u8 *bytes, u32 length, u32 mask)
{
    u32 last = length - 1;

    barrier_var(last);
    last &= mask;
    return packet_load_bytes(ctx, from, bytes, last + 1);
}

/* Copies the bytes of a message that follow those restored before them, to half of the memory at most. */
INLINE long message_copy_behind(void *ctx, u64 from, u8 *bytes, u32 front, u32 length, u32 mask)
{
    u32 last = length - 1;

    barrier_var(last);
    last &= mask >> 1;
    barrier_var(front);
    front &= mask >> 1;
    return packet_load_bytes(ctx, from, bytes + front, last + 1);
}

/* Returns the slot of a ticket. */
INLINE u32 message_slot(u64 ticket)
{
    return 1 + (u32)ticket % MESSAGE_HEADS;
}

/* Issues the next ticket. */
INLINE u64 message_new_ticket(struct message_head *last)
{
    return __sync_fetch_and_add(&last->ticket, 1) + 1;
}

/* Mask for the offsets of whole words in the preserved bytes. */
#define MESSAGE_HEAD_MASK (MESSAGE_HEAD_BYTES - 8)

/* Copies up to MESSAGE_HEAD_BYTES bytes in whole words, to after `front` others. The last word comes first: an
 * offset that started at 0 would be a new constant for the verifier in each iteration. */
INLINE void message_copy_words(u8 *to, u32 front, const u8 *from, u32 mask, u32 length)
{
    for (;;) {
        u32 at = (length - 1) & mask & MESSAGE_HEAD_MASK;
        u32 behind = (front + at) & (MESSAGE_HEAD_BYTES - 1);

        *(any64 *)(to + behind) = *(const any64 *)(from + at);
        if (length <= 8)
            return;
        length -= 8;
        forget_bounds(length);
        may_goto(end);
    }
end:
    return;
}

/* Preserves bytes under a new ticket, or appends them to those of a ticket. Returns the ticket of all of them; 0 if
 * the earlier ones are gone, or if there are more than `most` in all. Nobody can read or change the bytes while they
 * change. */
INLINE u64 message_keep(struct message_head *head, u64 ticket, u64 ticket_of_all, const u8 *bytes, u32 mask, u32 length, u32 most)
{
    u32 front = 0;

    if (ticket == MESSAGE_CHANGING)
        return 0;
    if (ticket) {
        if (__sync_val_compare_and_swap(&head->ticket, ticket, MESSAGE_CHANGING) != ticket)
            return 0;
        front = head->length;
        if (front > most || length > most - front) {
            (void)__sync_lock_test_and_set(&head->ticket, ticket);
            return 0;
        }
    } else if (__sync_lock_test_and_set(&head->ticket, MESSAGE_CHANGING) == MESSAGE_CHANGING) {
        return 0;
    }
    message_copy_words(head->bytes, front, bytes, mask, length);
    head->length = front + length;
    (void)__sync_lock_test_and_set(&head->ticket, ticket_of_all);
    return ticket_of_all;
}

/* Copies preserved bytes to memory. Returns their number, or 0 if the slot has been reused. */
INLINE u32 message_restore(struct message_head *head, u64 ticket, u8 *bytes, u32 mask, u32 most)
{
    u32 length;

    if (__sync_fetch_and_add(&head->ticket, 0) != ticket)
        return 0;
    length = head->length;
    if (!length || length > most)
        return 0;
    message_copy_words(bytes, 0, head->bytes, mask, length);
    return __sync_fetch_and_add(&head->ticket, 0) == ticket ? length : 0;
}

/* Returns the number of bytes in a packet after the parsed ones. */
INLINE u32 payload_length(u32 parsed, u64 length)
{
    return length > parsed ? length - parsed : 0;
}

/* Loads bytes of the payload. Returns 1 if the packet has all of them; if not, the zeros in `to` stay. */
INLINE u32 payload_bytes(void *ctx, u32 parsed, u32 offset, u64 length, void *to, u32 size)
{
    u64 from = (u64)parsed + offset;

    return from <= PAYLOAD_LAST_BEGIN && from + size <= length && !packet_load_bytes(ctx, from, to, size);
}

/* Replaces bytes of the payload. Returns 0 if the packet has not so many. */
INLINE u32 payload_write(void *ctx, u32 parsed, u32 offset, u64 length, void *from, u32 size)
{
    u64 to = (u64)parsed + offset;

    return to <= PAYLOAD_LAST_BEGIN && to + size <= length && !packet_store_bytes(ctx, to, from, size);
}

/* Returns the offset in the packet at which the first `bytes` bytes of its payload end. */
INLINE u32 payload_part_end(u32 parsed, u64 length, u32 bytes)
{
    u64 end = (u64)parsed + bytes;

    return end < length ? end : length;
}

/* Returns the number of bytes that a payload has beyond the first `bytes` ones. */
INLINE u32 payload_excess(u32 parsed, u64 length, u32 bytes)
{
    u32 all = payload_length(parsed, length);

    return all > bytes ? all - bytes : 0;
}

/* Returns the number of bytes in a packet from an offset on; 0 if a read may not begin there. */
INLINE u32 payload_left(u64 from, u32 length)
{
    return from < length && from <= PAYLOAD_LAST_BEGIN ? length - from : 0;
}

/* Returns the number of those bytes that a search covers. */
INLINE u32 payload_searched(u64 from, u32 length)
{
    u32 left = payload_left(from, length), near = PAYLOAD_END - from;

    if (left > near)
        left = near;
    return left < PAYLOAD_REACH ? left : PAYLOAD_REACH;
}

/* Returns the size of the piece at offset `at` of `all` bytes. */
INLINE u32 payload_piece_size(u32 all, u32 at)
{
    return all - at < PAYLOAD_AT_ONCE ? all - at : PAYLOAD_AT_ONCE;
}

/* Copies a piece to memory at offset `at`, which is 0. If no load may begin at the piece, it is loaded with the
 * bytes before it, and moved. Returns 0 if the packet has all bytes. */
INLINE long payload_copy(void *ctx, u32 from, u8 *bytes, u32 at, u32 length, u32 mask)
{
    u32 front = from > PAYLOAD_LAST_BEGIN ? from - PAYLOAD_LAST_BEGIN : 0;

    if (message_copy(ctx, from - front, bytes, front + length, mask))
        return 1;
    if (front)
        message_move(bytes, mask, at, at + front, length);
    return 0;
}

/* Position in a chunked body (`payload::chunks`): bit 63 is set, the phase begins at bit 56, and the lowest 44 bits
 * hold the bytes that remain of a chunk. */
enum {
    CHUNKS_DIGITS = 1,
    CHUNKS_DATA = 5,
    CHUNKS_DATA_END = 6,
    CHUNKS_FIELD = 8,
    CHUNKS_DONE = 13,
    CHUNKS_MALFORMED = 14,
};
#define CHUNKS_LEFT ((1ull << 44) - 1)
#define chunks_state(phase, size) (1ull << 63 | (u64)(phase) << 56 | (size))
#define CHUNKS_WINDOW 16

/* Passes over a chunked body in the next `all` bytes, at most `most`. Returns the number of these bytes that belong
 * to the body if it ends in them, otherwise the state after them. Data is not loaded. After the last byte that a
 * read may begin at, there can only be data. The verifier must learn nothing new in any iteration. */
INLINE u64 chunks_pass(void *ctx, u64 from, u32 all, u32 most, u64 state, const u8 *kinds, const u8 *phases)
{
    u8 window[CHUNKS_WINDOW] = {};
    u32 phase = state >> 56 & 15, at = CHUNKS_WINDOW, near = PAYLOAD_LAST_BEGIN + 1 - from, unseen = 0, left;
    u64 size = state & CHUNKS_LEFT;

    if (phase > CHUNKS_MALFORMED)
        phase = CHUNKS_MALFORMED;
    if (all > most)
        all = most;
    if (all > near) {
        unseen = all - near;
        all = near;
    }
    left = all;
    for (;;) {
        if (!left) {
            if (unseen) {
                if (phase != CHUNKS_DATA || size < unseen)
                    return chunks_state(CHUNKS_MALFORMED, 0);
                size -= unseen;
                if (!size)
                    phase = CHUNKS_DATA_END;
            }
            return chunks_state(phase & 15, size & CHUNKS_LEFT);
        }
        if (phase == CHUNKS_DATA) {
            u32 passed = size < left ? size : left;

            size -= passed;
            left -= passed;
            at = CHUNKS_WINDOW;
            if (!size)
                phase = CHUNKS_DATA_END;
        } else {
            u32 byte;

            if (at >= CHUNKS_WINDOW) {
                u64 here = from + (all - left);
                u32 last = (left < CHUNKS_WINDOW ? left : CHUNKS_WINDOW) - 1;

                barrier_var(last);
                last &= CHUNKS_WINDOW - 1;
                if (packet_load_bytes(ctx, here, window, last + 1))
                    return chunks_state(CHUNKS_MALFORMED, 0);
                at = 0;
            }
            byte = window[at & (CHUNKS_WINDOW - 1)];
            at += 1;
            left -= 1;
            phase = phases[(phase << 4 | kinds[byte]) & 0xff];
            if (phase == CHUNKS_DIGITS) {
                if (size > CHUNKS_LEFT >> 4)
                    return chunks_state(CHUNKS_MALFORMED, 0);
                size = size << 4 | ((byte & 15) + 9 * (byte >> 6));
            } else if (phase == CHUNKS_DATA && !size) {
                phase = CHUNKS_FIELD;
            } else if (phase == CHUNKS_DONE) {
                return all - left;
            } else if (phase == CHUNKS_MALFORMED) {
                return chunks_state(CHUNKS_MALFORMED, 0);
            }
        }
        forget_bounds(left);
        forget_constant(at, left);
        forget_constant(phase, left);
        forget_wide_bounds(size);
        may_goto(endless);
    }
endless:
    return chunks_state(CHUNKS_MALFORMED, 0);
}

#endif
