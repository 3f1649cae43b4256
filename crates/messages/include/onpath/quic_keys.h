/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Keys of QUIC's Initial packets (RFC 9001, section 5; RFC 9369), with SHA-256, AES-128 and GHASH in plain C. The keys
 * are public, so nothing here has to take the same time for all of them. */
#ifndef ONPATH_QUIC_KEYS_H
#define ONPATH_QUIC_KEYS_H

#include "packet.h"
#include "quic_constants.h"

/* A function that a verifier checks once. */
#ifdef GLOBAL_FUNC
#define QUIC_FUNC GLOBAL_FUNC
#else
#define QUIC_FUNC static __attribute__((noinline, unused))
#endif

/* Most bytes of a datagram, and of the handshake that a connection begins with. */
#define QUIC_DATAGRAM 4096
#define QUIC_BYTES 4096
#define QUIC_MASK (QUIC_DATAGRAM - 1)
/* Bytes behind a datagram that whole words may cover. */
#define QUIC_SLACK 64
/* Words of a connection id: up to 20 bytes, zeros, and its length as the last byte. */
#define QUIC_ID 3
/* Key schedules, by their place in `rounds`: of packets, and of header protection. */
#define QUIC_PACKET_KEY 0
#define QUIC_HEADER_KEY 1
#define QUIC_SCHEDULE 64

/* Keys of a connection's Initial packets. */
struct quic_keys {
    u32 rounds[2 * QUIC_SCHEDULE];
    u32 vector[4];
};

/* Memory of a processor for a datagram. Numbers are in the machine's order. */
struct quic_memory {
    u8 packet[QUIC_DATAGRAM + QUIC_SLACK];
    struct quic_keys keys;
    /* Block that AES encrypts, and what it becomes. */
    u32 block[4];
    /* Block that SHA-256 reads, its state, and those of HMAC after its pads. */
    u32 words[16];
    u32 sum[8];
    u32 inner[8];
    u32 outer[8];
    /* Multiples of the key of GHASH by four bits, and its sum. */
    u64 multiples[32];
    u64 ghash[2];
    /* The Initial that is read: its id, version (1 or 2), and where it begins, has its number, and ends. */
    u64 id[QUIC_ID];
    u32 version;
    u32 start;
    u32 number_at;
    u32 end;
    /* Bytes of the datagram, and where its next packet begins. */
    u32 size;
    u32 next;
    /* Packets of the datagram so far. */
    u32 packets;
    /* The packet's number, as it is written, and in how many bytes. */
    u32 number;
    u32 number_size;
    u32 unused;
};

/* Turns a word to the right by three numbers, and adds the results bit by bit. Turning is shifting a word that stands there twice. */
INLINE u32 quic_turns(u32 word, u32 a, u32 b, u32 c)
{
    u64 twice = (u64)word << 32 | word;

    return twice >> a ^ twice >> b ^ twice >> c;
}

/* The same, but the third is a shift. */
INLINE u32 quic_mix(u32 word, u32 a, u32 b, u32 shift)
{
    u64 twice = (u64)word << 32 | word;

    return (u32)(twice >> a ^ twice >> b) ^ word >> shift;
}

#define quic_round(a, b, c, d, e, f, g, h, i)                                                                          \
    do {                                                                                                               \
        h += quic_turns(e, 6, 11, 25) + (g ^ (e & (f ^ g))) + k[i] + w[i];                                             \
        d += h;                                                                                                        \
        h += quic_turns(a, 2, 13, 22) + ((a & b) | (c & (a | b)));                                                     \
        /* The compiler must not load words long before they are used: they would fill the stack. */                   \
        asm volatile("" : : : "memory");                                                                               \
    } while (0)

#define quic_rounds(i)                                                                                                 \
    do {                                                                                                               \
        quic_round(a, b, c, d, e, f, g, h, i);                                                                         \
        quic_round(h, a, b, c, d, e, f, g, i + 1);                                                                     \
        quic_round(g, h, a, b, c, d, e, f, i + 2);                                                                     \
        quic_round(f, g, h, a, b, c, d, e, i + 3);                                                                     \
        quic_round(e, f, g, h, a, b, c, d, i + 4);                                                                     \
        quic_round(d, e, f, g, h, a, b, c, i + 5);                                                                     \
        quic_round(c, d, e, f, g, h, a, b, i + 6);                                                                     \
        quic_round(b, c, d, e, f, g, h, a, i + 7);                                                                     \
    } while (0)

/* Adds the block `words` to the state `sum`. */
QUIC_FUNC u32 quic_sha(struct quic_memory *m)
{
    u32 a, b, c, d, e, f, g, h, *w, round = 0;

    if (!m)
        return 0;
    w = m->words;
    a = m->sum[0], b = m->sum[1], c = m->sum[2], d = m->sum[3];
    e = m->sum[4], f = m->sum[5], g = m->sum[6], h = m->sum[7];
#pragma clang loop unroll(disable)
    for (;;) {
        const u32 *k = quic_sha_rounds + (round & 48);

        quic_rounds(0);
        quic_rounds(8);
        round += 16;
        if (round >= 64)
            break;
#pragma clang loop unroll(full)
        for (u32 i = 0; i < 16; i++) {
            w[i] += quic_mix(w[(i + 1) & 15], 7, 18, 3) + w[(i + 9) & 15] + quic_mix(w[(i + 14) & 15], 17, 19, 10);
            asm volatile("" : : : "memory");
        }
    }
    m->sum[0] += a, m->sum[1] += b, m->sum[2] += c, m->sum[3] += d;
    m->sum[4] += e, m->sum[5] += f, m->sum[6] += g, m->sum[7] += h;
    return 0;
}

INLINE void quic_copy_words(u32 *to, const u32 *from, u32 count)
{
    for (u32 i = 0; i < count; i++)
        to[i] = from[i];
}

/* Ends an HMAC: the outer hash over `sum`, which becomes the result. */
INLINE void quic_hmac_end(struct quic_memory *m, const u32 *outer)
{
    quic_copy_words(m->words, m->sum, 8);
    m->words[8] = 0x80000000;
    for (u32 i = 9; i < 15; i++)
        m->words[i] = 0;
    m->words[15] = (64 + 32) * 8;
    quic_copy_words(m->sum, outer, 8);
    quic_sha(m);
}

/* Begins HMACs whose key is `sum`. */
QUIC_FUNC u32 quic_hmac_key(struct quic_memory *m)
{
    if (!m)
        return 0;
    for (u32 i = 0; i < 8; i++) {
        m->words[i] = m->sum[i] ^ 0x36363636;
        m->words[i + 8] = 0x36363636;
        m->outer[i] = m->sum[i] ^ 0x5c5c5c5c;
    }
    quic_copy_words(m->sum, quic_sha_start, 8);
    quic_sha(m);
    quic_copy_words(m->inner, m->sum, 8);
    for (u32 i = 0; i < 8; i++) {
        m->words[i] = m->outer[i];
        m->words[i + 8] = 0x5c5c5c5c;
    }
    quic_copy_words(m->sum, quic_sha_start, 8);
    quic_sha(m);
    quic_copy_words(m->outer, m->sum, 8);
    return 0;
}

/* Expands a label (RFC 5869; RFC 8446, section 7.1) under the secret of `quic_hmac_key`, to `sum`. */
QUIC_FUNC u32 quic_expand(struct quic_memory *m, u32 label)
{
    if (!m)
        return 0;
    quic_copy_words(m->words, quic_labels[(m->version - 1) & 1][label & 3], 16);
    quic_copy_words(m->sum, m->inner, 8);
    quic_sha(m);
    quic_hmac_end(m, m->outer);
    return 0;
}

/* Word of a table of AES's rounds for a byte of a word. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define quic_aes_word(table, word, shift)                                                                              \
    (*(const any32 *)((const u8 *)&quic_aes_table[(word) >> (shift) & 0xff] + (table)))
#else
#define quic_aes_word(table, word, shift)                                                                              \
    (*(const any32 *)((const u8 *)&quic_aes_table[(word) >> (shift) & 0xff] + (4 - (table)) % 4))
#endif

#define quic_aes_mixed(a, b, c, d)                                                                                     \
    (quic_aes_word(0, a, 24) ^ quic_aes_word(1, b, 16) ^ quic_aes_word(2, c, 8) ^ quic_aes_word(3, d, 0))
#define quic_aes_last(a, b, c, d)                                                                                      \
    ((quic_aes_word(2, a, 24) & 0xff000000) | (quic_aes_word(3, b, 16) & 0xff0000) |                                   \
     (quic_aes_word(0, c, 8) & 0xff00) | (quic_aes_word(1, d, 0) & 0xff))

/* Makes the schedule of a key from the first words of `sum`. */
QUIC_FUNC u32 quic_schedule(struct quic_memory *m, u32 which)
{
    u32 a, b, c, d, round = 1, *to;

    if (!m)
        return 0;
    to = m->keys.rounds + (which & 1) * QUIC_SCHEDULE;
    a = m->sum[0], b = m->sum[1], c = m->sum[2], d = m->sum[3];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
#pragma clang loop unroll(full)
    for (u32 i = 4; i < 44; i += 4) {
        a ^= quic_aes_last(d << 8, d << 8, d << 8, d >> 24) ^ round << 24;
        b ^= a;
        c ^= b;
        d ^= c;
        to[i] = a, to[i + 1] = b, to[i + 2] = c, to[i + 3] = d;
        round = round << 1 ^ (round >> 7) * 0x11b;
    }
    return 0;
}

/* Makes the keys of the client's Initials from `id` and `version`. */
QUIC_FUNC u32 quic_derive(struct quic_memory *m)
{
    const u8 *id;
    u32 size, version;

    if (!m)
        return 0;
    id = (const u8 *)m->id;
    size = id[QUIC_ID * 8 - 1] & 31;
    version = (m->version - 1) & 1;
    for (u32 i = 0; i < 5; i++)
        m->words[i] = BE32(*(const any32 *)(id + 4 * i));
    for (u32 i = 5; i < 15; i++)
        m->words[i] = 0;
    m->words[size / 4 & 7] |= 0x80000000 >> size % 4 * 8;
    m->words[15] = (64 + size) * 8;
    quic_copy_words(m->sum, quic_salt_inner[version], 8);
    quic_sha(m);
    quic_hmac_end(m, quic_salt_outer[version]);
    quic_hmac_key(m);
    quic_expand(m, 0);
    quic_hmac_key(m);
    quic_expand(m, 1);
    quic_schedule(m, QUIC_PACKET_KEY);
    quic_expand(m, 2);
    quic_copy_words(m->keys.vector, m->sum, 3);
    quic_expand(m, 3);
    quic_schedule(m, QUIC_HEADER_KEY);
    return 0;
}

/* Encrypts `block` by AES-128 under one of the keys. */
QUIC_FUNC u32 quic_aes(struct quic_memory *m, u32 which)
{
    const u32 *key;
    u32 a, b, c, d;

    if (!m)
        return 0;
    key = m->keys.rounds + (which & 1) * QUIC_SCHEDULE;
    a = m->block[0] ^ key[0], b = m->block[1] ^ key[1], c = m->block[2] ^ key[2], d = m->block[3] ^ key[3];
#pragma clang loop unroll(full)
    for (u32 i = 4; i < 40; i += 4) {
        u32 p = quic_aes_mixed(a, b, c, d) ^ key[i];
        u32 q = quic_aes_mixed(b, c, d, a) ^ key[i + 1];
        u32 r = quic_aes_mixed(c, d, a, b) ^ key[i + 2];

        d = quic_aes_mixed(d, a, b, c) ^ key[i + 3];
        a = p, b = q, c = r;
    }
    m->block[0] = quic_aes_last(a, b, c, d) ^ key[40];
    m->block[1] = quic_aes_last(b, c, d, a) ^ key[41];
    m->block[2] = quic_aes_last(c, d, a, b) ^ key[42];
    m->block[3] = quic_aes_last(d, a, b, c) ^ key[43];
    return 0;
}

#endif
