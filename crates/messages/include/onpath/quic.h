/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What QUIC connections begin with (RFC 9000, RFC 9001, RFC 9369): the CRYPTO bytes of the client's Initial packets, which
 * may come in any order and in several datagrams. A ticket leads to a connection until its slot is used again. While
 * a datagram is read, its connection has no ticket that is valid. */
#ifndef ONPATH_QUIC_H
#define ONPATH_QUIC_H

#include "message.h"
#include "quic_packet.h"

/* Ids that a connection may begin anew with. */
#define QUIC_IDS 4
/* A type of handshake message (RFC 8446, section 4). */
#define QUIC_CLIENT_HELLO 1

struct quic_connection {
    /* The bytes that came without a gap. They are read as those of a message are. */
    struct message_head head;
    /* Which bytes came, a bit each. */
    u8 known[QUIC_BYTES / 8];
    /* Number of the bytes without a gap, and of those that the first message has, if that is known. */
    u32 upto;
    u32 hello;
    /* One more than the largest packet number. */
    u32 expected;
    /* Version of the keys, and how many ids the connection had. The first is the present one, whose keys these are. */
    u32 version;
    u32 count;
    u32 unused;
    u64 ids[QUIC_IDS * QUIC_ID];
    struct quic_keys keys;
};

_Static_assert(sizeof(struct quic_memory) == 5200, "the map's values have this size");
_Static_assert(sizeof(struct quic_connection) == 5280, "the map's values have this size");

/* Returns the slot of a ticket. Slot 0 has the last ticket. */
INLINE u32 quic_slot(u64 ticket, u32 slots)
{
    return 1 + (u32)ticket % slots;
}

/* A whole byte for each bit of `bits`, as they stand in memory. */
INLINE u64 quic_spread(u32 bits)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    u64 each = (u64)bits * 0x0101010101010101ull & 0x8040201008040201ull;
#else
    u64 each = (u64)bits * 0x0101010101010101ull & 0x0102040810204080ull;
#endif
    each = (each + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
    return each * 0xff;
}

/* Forgets the bytes that came. */
INLINE void quic_clear(struct quic_connection *c)
{
    any64 *known = (any64 *)c->known;

#pragma clang loop unroll(full)
    for (u32 i = 0; i < QUIC_BYTES / 64; i++)
        known[i] = 0;
    c->upto = c->hello = c->head.length = 0;
}

/* Moves the end of the bytes without a gap, and finds out how many the first message has. */
INLINE u32 quic_advance(struct quic_connection *c)
{
    u32 upto = c->upto, size, bits;

    for (;;) {
        if (upto >= QUIC_BYTES || c->known[upto / 8 & (QUIC_BYTES / 8 - 1)] != 0xff)
            break;
        upto = (upto & ~7u) + 8;
        forget_bounds(upto);
        may_goto(end);
    }
end:
    if (upto < QUIC_BYTES) {
        bits = c->known[upto / 8 & (QUIC_BYTES / 8 - 1)];
        upto &= ~7u;
        /* The lowest bits that are set, of which there are less than eight. */
        bits &= ~(bits + 1);
        for (u32 i = 0; i < 7; i++)
            upto += bits >> i & 1;
    }
    c->upto = upto;
    if (upto && c->head.bytes[0] != QUIC_CLIENT_HELLO)
        return QUIC_MALFORMED;
    if (upto >= 4 && !c->hello) {
        size = BE32(*(const any32 *)c->head.bytes) & 0xffffff;
        if (size > QUIC_BYTES - 4)
            return QUIC_TOO_LONG;
        c->hello = size + 4;
    }
    c->head.length = c->hello && c->hello < upto ? c->hello : upto;
    return QUIC_PART;
}

/* Adds bytes of the datagram at an offset of the connection's. What came before has to be the same. */
QUIC_FUNC u32 quic_merge(struct quic_memory *m, struct quic_connection *c, u32 offset, u32 from, u32 length)
{
    u32 at, end;

    if (!m || !c || offset > QUIC_BYTES || length > QUIC_BYTES - offset || !length)
        return QUIC_PART;
    end = offset + length;
    at = offset & ~7u;
    from -= offset & 7;
    for (;;) {
        u32 bits = 0xff, known;
        u64 old, new, more;
        any64 *to;
        u8 *is_known;

        if (at < offset)
            bits <<= offset & 7;
        if (end - at < 8)
            bits &= (1u << (end & 7)) - 1;
        to = (any64 *)(c->head.bytes + (at & (QUIC_BYTES - 8)));
        is_known = c->known + (at / 8 & (QUIC_BYTES / 8 - 1));
        known = *is_known;
        new = *(any64 *)quic_at(m, from);
        old = *to;
        if ((old ^ new) & quic_spread(known & bits))
            return QUIC_CONFLICT;
        more = quic_spread(bits & ~known & 0xff);
        *to = (old & ~more) | (new & more);
        *is_known = known | bits;
        at += 8;
        from += 8;
        if (at >= end)
            break;
        forget_bounds(at);
        forget_bounds(from);
        may_goto(done);
    }
done:
    return quic_advance(c);
}

/* Reads the frames of a packet's payload between two offsets (RFC 9000, section 12.4, table 3). */
QUIC_FUNC u32 quic_frames(struct quic_memory *m, struct quic_connection *c, u32 at, u32 end)
{
    u32 numbers = 0;

    if (!m || !c)
        return QUIC_MALFORMED;
    for (;;) {
        u64 word, first, second, third = 0;
        u32 type, status, from;

        if (at >= end)
            break;
        word = quic_word(m, at);
        if (numbers) {
            /* Numbers of an ACK frame, which do not matter. */
            at += quic_number_size(word);
            numbers -= 1;
            goto next;
        }
        if (!word && end - at >= 8) {
            at += 8;
            goto next;
        }
        type = word >> 56;
        at += 1;
        if (type < 2)
            goto next;
        if (type != 2 && type != 3 && type != 6 && type != 0x1c)
            return QUIC_MALFORMED;
        word = quic_word(m, at);
        at += quic_number_size(word);
        first = quic_number(word);
        word = quic_word(m, at);
        at += quic_number_size(word);
        second = quic_number(word);
        if (type != 6) {
            word = quic_word(m, at);
            at += quic_number_size(word);
            third = quic_number(word);
        }
        if (at > end)
            return QUIC_MALFORMED;
        if (type < 4) {
            if (third > end - at)
                return QUIC_MALFORMED;
            numbers = 1 + 2 * (u32)third + (type == 3 ? 3 : 0);
            goto next;
        }
        if (type == 0x1c)
            second = third;
        if (second > end - at)
            return QUIC_MALFORMED;
        from = at;
        at += second;
        if (type == 0x1c)
            goto next;
        /* What follows the first message is not read. */
        if (c->hello) {
            if (first >= c->hello)
                goto next;
            if (second > c->hello - first)
                second = c->hello - first;
        } else if (first > QUIC_BYTES || second > QUIC_BYTES - first) {
            return QUIC_TOO_LONG;
        }
        status = quic_merge(m, c, first, from, second);
        if (status != QUIC_PART)
            return status;
next:
        forget_bounds(at);
        forget_bounds(numbers);
        may_goto(endless);
    }
    return at > end || numbers ? QUIC_MALFORMED : QUIC_PART;
endless:
    return QUIC_MALFORMED;
}

INLINE void quic_copy_keys(struct quic_keys *to, const struct quic_keys *from)
{
    any64 *a = (any64 *)to;
    const any64 *b = (const any64 *)from;

#pragma clang loop unroll(full)
    for (u32 i = 0; i < 22; i++) {
        a[i] = b[i];
        a[i + QUIC_SCHEDULE / 2] = b[i + QUIC_SCHEDULE / 2];
    }
    a[QUIC_SCHEDULE] = b[QUIC_SCHEDULE];
    a[QUIC_SCHEDULE + 1] = b[QUIC_SCHEDULE + 1];
}

/* Whether an id is the packet's. */
INLINE u32 quic_is_id(struct quic_memory *m, const u64 *id)
{
    return id[0] == m->id[0] && id[1] == m->id[1] && id[2] == m->id[2];
}

INLINE void quic_copy_id(u64 *to, const u64 *from)
{
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
}

/* Whether the packet is authentic under the keys of an id of the connection. Those are in memory behind it. */
QUIC_FUNC u32 quic_is_of(struct quic_memory *m, struct quic_connection *c, u32 index)
{
    u64 id[QUIC_ID];

    if (!m || !c || index >= QUIC_IDS)
        return 0;
    if (!index && c->version == m->version) {
        quic_copy_keys(&m->keys, &c->keys);
        return quic_is_authentic(m);
    }
    quic_copy_id(id, m->id);
    quic_copy_id(m->id, c->ids + index * QUIC_ID);
    quic_derive(m);
    quic_copy_id(m->id, id);
    return quic_is_authentic(m);
}

/* Gets the keys of a packet whose id is not the connection's: the server has chosen another, and the keys are those of the
 * first, or the client begins anew, after a Retry for example, and they are those of the new id. The tag tells which.
 * Returns 1 if it is the second. */
INLINE u32 quic_choose(struct quic_memory *m, struct quic_connection *c)
{
    u32 is_of_old, is_of_first, is_new;

    if (!m || !c)
        return QUIC_MALFORMED;
    is_of_old = 0;
    for (u32 i = 1; i < QUIC_IDS; i++) {
        if (i < c->count) {
            if (quic_is_id(m, c->ids + i * QUIC_ID))
                return QUIC_CONFLICT;
            is_of_old |= quic_is_of(m, c, i);
        }
    }
    quic_derive(m);
    is_new = quic_is_authentic(m);
    is_of_first = quic_is_of(m, c, 0);
    if (is_of_old || (is_of_first && is_new))
        return QUIC_CONFLICT;
    if (is_of_first)
        return QUIC_PART;
    if (!is_new)
        return QUIC_MALFORMED;
    if (c->count >= QUIC_IDS)
        return QUIC_CONFLICT;
    quic_derive(m);
    return QUIC_INITIAL;
}

/* Reads an Initial. */
QUIC_FUNC u32 quic_initial(struct quic_memory *m, struct quic_connection *c)
{
    u32 status, at, end, begins = 0, half;
    u64 first;

    if (!m || !c)
        return QUIC_MALFORMED;
    if (!c->count) {
        quic_derive(m);
        begins = 1;
    } else if (!quic_is_id(m, c->ids)) {
        status = quic_choose(m, c);
        if (status != QUIC_PART && status != QUIC_INITIAL)
            return status;
        begins = status == QUIC_INITIAL;
    } else if (m->version == c->version) {
        quic_copy_keys(&m->keys, &c->keys);
    } else {
        quic_derive(m);
    }
    first = quic_unprotect(m);
    at = m->number_at + m->number_size;
    end = m->end - QUIC_TAG;
    if (first & 0x0c || at >= end)
        return QUIC_MALFORMED;
    /* A number is written in so many bytes that it is the only one, whichever packets came to the server. */
    half = 1u << (8 * m->number_size - 1);
    if ((u64)m->number + half <= c->expected)
        return QUIC_MALFORMED;
    if (begins) {
        if (c->count) {
            for (u32 i = QUIC_IDS - 1; i; i--)
                quic_copy_id(c->ids + i * QUIC_ID, c->ids + (i - 1) * QUIC_ID);
            quic_clear(c);
        }
        quic_copy_id(c->ids, m->id);
        quic_copy_keys(&c->keys, &m->keys);
        c->version = m->version;
        c->count += 1;
    }
    if (m->number >= c->expected)
        c->expected = m->number == 0xffffffff ? m->number : m->number + 1;
    quic_decrypt(m, at, end - at);
    return quic_frames(m, c, at, end);
}

/* Loads a datagram, and finds its first Initial. */
INLINE u32 quic_load(void *ctx, u64 from, u32 most, u32 length, struct quic_memory *m)
{
    u32 all = payload_left(from, length);

    if (all > most)
        all = most;
    if (!all)
        return QUIC_OTHER;
    m->size = all;
    if (all > QUIC_DATAGRAM)
        all = QUIC_DATAGRAM;
    if (message_copy(ctx, from, m->packet, all, QUIC_MASK))
        return QUIC_OTHER;
    m->next = 0;
    m->packets = 0;
    if (m->size > QUIC_DATAGRAM) {
        m->size = QUIC_DATAGRAM;
        all = quic_next(m);
        return all == QUIC_OTHER || all == QUIC_VERSION ? all : QUIC_TOO_LONG;
    }
    return quic_next(m);
}

/* Reads the Initials of a datagram, of which the first was found, for the connection to which a ticket leads, or for a new
 * one. Returns the status, and above it the ticket; 0 of a datagram with which no connection begins. */
INLINE u64 quic_take(struct quic_memory *m, struct quic_connection *c, u64 ticket, u64 ticket_of_all)
{
    u32 status;
    u64 before, id[QUIC_ID];

    if (!m || !c)
        return QUIC_OTHER;
    if (ticket >> 56)
        return ticket << 8 | QUIC_FORGOTTEN;
    if (ticket) {
        before = __sync_val_compare_and_swap(&c->head.ticket, ticket, MESSAGE_CHANGING);
        if (before != ticket)
            return ticket << 8 | (before == MESSAGE_CHANGING ? QUIC_BUSY : QUIC_FORGOTTEN);
    } else {
        if (__sync_lock_test_and_set(&c->head.ticket, MESSAGE_CHANGING) == MESSAGE_CHANGING)
            return QUIC_BUSY;
        quic_clear(c);
        c->expected = c->version = c->count = 0;
    }
    for (;;) {
        quic_copy_id(id, m->id);
        status = quic_initial(m, c);
        if (status != QUIC_PART)
            break;
        status = quic_next(m);
        if (status != QUIC_INITIAL)
            break;
        /* All packets of a datagram have one id (RFC 9000, section 12.2). Which ones a server reads otherwise is its own choice. */
        if (!quic_is_id(m, id)) {
            status = QUIC_MALFORMED;
            break;
        }
        may_goto(end);
    }
end:
    if (status == QUIC_OTHER)
        status = c->hello && c->upto >= c->hello ? QUIC_WHOLE : QUIC_PART;
    if (!ticket && status > QUIC_PART)
        ticket_of_all = 0;
    (void)__sync_lock_test_and_set(&c->head.ticket, ticket_of_all);
    return ticket_of_all << 8 | status;
}

#endif
