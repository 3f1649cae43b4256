/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Packets of a QUIC datagram: their headers (RFC 9000, section 17; RFC 9369), protection and tag (RFC 9001, section 5).
 * Each access to the datagram is masked, so that a verifier tracks no offset. */
#ifndef ONPATH_QUIC_PACKET_H
#define ONPATH_QUIC_PACKET_H

#include "quic_keys.h"

/* What becomes of a datagram (`quic_status` of payload's `quic.p4`), and an Initial that is to be read. */
enum {
    QUIC_WHOLE = 0,
    QUIC_PART = 1,
    QUIC_OTHER = 2,
    QUIC_VERSION = 3,
    QUIC_MALFORMED = 4,
    QUIC_CONFLICT = 5,
    QUIC_TOO_LONG = 6,
    QUIC_FORGOTTEN = 7,
    QUIC_BUSY = 8,
    QUIC_INITIAL = 9,
};

/* Most packets of a datagram. */
#define QUIC_PACKETS 16
#define QUIC_ID_BYTES 20
#define QUIC_TAG 16

INLINE u8 *quic_at(struct quic_memory *m, u32 at)
{
    barrier_var(at);
    return m->packet + (at & QUIC_MASK);
}

INLINE u64 quic_word(struct quic_memory *m, u32 at)
{
    return BE64(*(const any64 *)quic_at(m, at));
}

/* Number of bytes of a number of variable length that begins with these bytes, and the number (RFC 9000, section 16). */
INLINE u32 quic_number_size(u64 word)
{
    return 1u << (word >> 62);
}

INLINE u64 quic_number(u64 word)
{
    return word << 2 >> 2 >> (64 - (8u << (word >> 62)));
}

/* Bytes of a word up to the end, of which `left` are left. */
INLINE u64 quic_first_bytes(u64 word, u32 left)
{
    return left >= 8 ? word : left ? word & ~0ull << (64 - 8 * (left & 7)) : 0;
}

/* Finds the next Initial of a datagram, behind other packets. */
QUIC_FUNC u32 quic_next(struct quic_memory *m)
{
    u32 at, size, packets, status = QUIC_MALFORMED;

    if (!m)
        return QUIC_OTHER;
    at = m->next;
    size = m->size;
    packets = m->packets;
    for (;;) {
        u64 word, length;
        u32 version, first, type, id_size, start = at;

        if (at >= size)
            return QUIC_OTHER;
        word = quic_word(m, at);
        first = word >> 56;
        /* Not a long header: a packet that is not read, or bytes that fill the datagram. */
        if (!(first & 0x80))
            return QUIC_OTHER;
        if (size - at < 7)
            return QUIC_MALFORMED;
        version = word >> 24;
        if (!version)
            return QUIC_OTHER;
        if (version == 1)
            version = 1;
        else if (version == 0x6b3343cf)
            version = 2;
        else
            return QUIC_VERSION;
        if (packets >= QUIC_PACKETS)
            return QUIC_MALFORMED;
        packets += 1;
        type = (first >> 4) - (version - 1) & 3;
        if (type == 3)
            return QUIC_OTHER;
        id_size = word >> 16 & 0xff;
        if (id_size > QUIC_ID_BYTES)
            return QUIC_MALFORMED;
        at += 6;
        m->id[0] = *(any64 *)quic_at(m, at);
        m->id[1] = *(any64 *)quic_at(m, at + 8);
        m->id[2] = *(any64 *)quic_at(m, at + 16);
        m->id[0] = BE64(quic_first_bytes(BE64(m->id[0]), id_size));
        m->id[1] = BE64(quic_first_bytes(BE64(m->id[1]), id_size > 8 ? id_size - 8 : 0));
        m->id[2] = BE64(quic_first_bytes(BE64(m->id[2]), id_size > 16 ? id_size - 16 : 0) | id_size);
        at += id_size;
        if (at >= size)
            return QUIC_MALFORMED;
        id_size = *quic_at(m, at);
        if (id_size > QUIC_ID_BYTES)
            return QUIC_MALFORMED;
        at += 1 + id_size;
        if (!type) {
            if (at >= size)
                return QUIC_MALFORMED;
            word = quic_word(m, at);
            at += quic_number_size(word);
            length = quic_number(word);
            if (at > size || length > size - at)
                return QUIC_MALFORMED;
            at += length;
        }
        if (at >= size)
            return QUIC_MALFORMED;
        word = quic_word(m, at);
        at += quic_number_size(word);
        length = quic_number(word);
        if (at > size || length > size - at)
            return QUIC_MALFORMED;
        if (!type) {
            /* Header protection takes 16 bytes from the fifth byte on. */
            if (length < 4 + QUIC_TAG)
                return QUIC_MALFORMED;
            m->version = version;
            m->start = start;
            m->number_at = at;
            m->end = at + length;
            m->next = at + length;
            m->packets = packets;
            return QUIC_INITIAL;
        }
        at += length;
        forget_bounds(at);
        forget_bounds(packets);
        may_goto(endless);
    }
endless:
    return status;
}

/* Adds or takes away the protection of the header. */
INLINE void quic_toggle_header(struct quic_memory *m, u32 mask, u32 number_mask)
{
    any32 *number = (any32 *)quic_at(m, m->number_at);

    *quic_at(m, m->start) ^= mask;
    *number ^= BE32(number_mask);
}

/* Finds the number of a packet under the keys in memory. Returns its first byte without protection, with the mask of
 * that byte above, and the mask of the number in the higher half. */
INLINE u64 quic_unprotect(struct quic_memory *m)
{
    u32 at = m->number_at + 4, first, size, mask;

    m->block[0] = quic_word(m, at) >> 32;
    m->block[1] = quic_word(m, at);
    m->block[2] = quic_word(m, at + 8) >> 32;
    m->block[3] = quic_word(m, at + 8);
    quic_aes(m, QUIC_HEADER_KEY);
    mask = m->block[0] >> 24 & 0xf;
    first = *quic_at(m, m->start) ^ mask;
    size = (first & 3) + 1;
    at = m->block[0] << 8 | m->block[1] >> 24;
    at &= 0xffffffff << (32 - 8 * size);
    m->number_size = size;
    m->number = ((u32)(quic_word(m, m->number_at) >> 32) ^ at) >> (32 - 8 * size);
    return (u64)at << 32 | mask << 8 | first;
}

/* Begins the block that encrypts a packet's bytes, or its tag. */
INLINE void quic_counter(struct quic_memory *m, u32 counter)
{
    m->block[0] = m->keys.vector[0];
    m->block[1] = m->keys.vector[1];
    m->block[2] = m->keys.vector[2] ^ m->number;
    m->block[3] = counter;
}

/* Decrypts `length` bytes at an offset, and up to 15 behind them, which are a tag's. */
QUIC_FUNC u32 quic_decrypt(struct quic_memory *m, u32 at, u32 length)
{
    u32 counter = 2;

    if (!m)
        return 0;
    for (;;) {
        any64 *bytes = (any64 *)quic_at(m, at);

        quic_counter(m, counter);
        quic_aes(m, QUIC_PACKET_KEY);
        bytes[0] ^= BE64((u64)m->block[0] << 32 | m->block[1]);
        bytes[1] ^= BE64((u64)m->block[2] << 32 | m->block[3]);
        if (length <= 16)
            return 0;
        length -= 16;
        at += 16;
        counter += 1;
        forget_bounds(length);
        forget_bounds(counter);
        may_goto(end);
    }
end:
    return 0;
}

/* Adds a block to the sum of GHASH: multiplies it by the key, four bits at a time. */
QUIC_FUNC u32 quic_absorb(struct quic_memory *m, u64 high, u64 low)
{
    u64 a = 0, b = 0;
    u32 left = 32;

    if (!m)
        return 0;
    high ^= m->ghash[0];
    low ^= m->ghash[1];
    for (;;) {
        u32 bits = low & 15, out = b & 15;

        b = a << 60 | b >> 4;
        a = a >> 4 ^ (u64)quic_ghash_out[out] << 48;
        a ^= m->multiples[bits * 2];
        b ^= m->multiples[bits * 2 + 1];
        low = high << 60 | low >> 4;
        high >>= 4;
        left -= 1;
        if (!left)
            break;
        forget_bounds(left);
        may_goto(end);
    }
end:
    m->ghash[0] = a;
    m->ghash[1] = b;
    return 0;
}

/* Adds the bytes between two offsets, filled up with zeros to whole blocks. */
QUIC_FUNC u32 quic_absorb_bytes(struct quic_memory *m, u32 at, u32 end)
{
    if (!m)
        return 0;
    for (;;) {
        u32 left = end - at;
        u64 low = quic_first_bytes(quic_word(m, at + 8), left > 8 ? left - 8 : 0);

        quic_absorb(m, quic_first_bytes(quic_word(m, at), left), low);
        if (left <= 16)
            return 0;
        at += 16;
        forget_bounds(at);
        may_goto(end);
    }
end:
    return 0;
}

/* Makes the multiples of the key of GHASH, which is what zeros are encrypted to. */
QUIC_FUNC u32 quic_ghash_key(struct quic_memory *m)
{
    u64 a, b, *to;

    if (!m)
        return 0;
    for (u32 i = 0; i < 4; i++)
        m->block[i] = 0;
    quic_aes(m, QUIC_PACKET_KEY);
    a = (u64)m->block[0] << 32 | m->block[1];
    b = (u64)m->block[2] << 32 | m->block[3];
    to = m->multiples;
    to[0] = to[1] = 0;
#pragma clang loop unroll(full)
    for (u32 bit = 8; bit; bit >>= 1) {
        u64 out = -(b & 1) & 0xe1ull << 56;

        to[2 * bit] = a, to[2 * bit + 1] = b;
        b = a << 63 | b >> 1;
        a = a >> 1 ^ out;
    }
#pragma clang loop unroll(full)
    for (u32 bits = 3; bits < 16; bits++) {
        u32 one = bits & -bits;

        to[2 * bits] = to[2 * one] ^ to[2 * (bits - one)];
        to[2 * bits + 1] = to[2 * one + 1] ^ to[2 * (bits - one) + 1];
    }
    return 0;
}

/* Tells whether the keys in memory are those of the packet: checks its tag. The packet stays as it is. */
QUIC_FUNC u32 quic_is_authentic(struct quic_memory *m)
{
    u64 found, high, low;
    u32 behind, tag;

    if (!m)
        return 0;
    found = quic_unprotect(m);
    quic_toggle_header(m, found >> 8 & 0xff, found >> 32);
    quic_ghash_key(m);
    m->ghash[0] = m->ghash[1] = 0;
    behind = m->number_at + m->number_size;
    tag = m->end - QUIC_TAG;
    quic_absorb_bytes(m, m->start, behind);
    if (tag > behind)
        quic_absorb_bytes(m, behind, tag);
    quic_absorb(m, (u64)(behind - m->start) * 8, (u64)(tag - behind) * 8);
    quic_toggle_header(m, found >> 8 & 0xff, found >> 32);
    quic_counter(m, 1);
    quic_aes(m, QUIC_PACKET_KEY);
    high = m->ghash[0] ^ ((u64)m->block[0] << 32 | m->block[1]);
    low = m->ghash[1] ^ ((u64)m->block[2] << 32 | m->block[3]);
    return high == quic_word(m, tag) && low == quic_word(m, tag + 8);
}

#endif
