/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Messages of applications, in memory. Each access is masked to that memory, so that a verifier of the C follows no offset. Offsets count
 * from the message's start; the memory has MESSAGE_SLACK bytes more than the mask lets them reach, for words that begin at its last byte.
 * The target defines before it `may_goto`, `forget_bounds` and `barrier_var`, and `unforeseen` for `document.h` (crate `messages`). */
#ifndef ONPATH_PARSE_MESSAGE_H
#define ONPATH_PARSE_MESSAGE_H

#include "packet.h"
#include "search.h"

/* The numbers of `message_status`. */
enum {
    MESSAGE_READ,
    MESSAGE_OTHER,
    MESSAGE_TRUNCATED,
    MESSAGE_LENGTH_PAST_END,
    MESSAGE_TOO_DEEP,
    MESSAGE_POINTER_LOOP,
    MESSAGE_UNEXPECTED,
    MESSAGE_TOO_LONG,
    MESSAGE_CONFLICT,
    MESSAGE_BEGINS,
};

#define MESSAGE_SLACK 64
/* The offset of an attribute that the message does not have. */
#define MESSAGE_ABSENT 0xffffffffu
/* A function that gives an offset gives this bit, with a status, where there is none. */
#define MESSAGE_FAULT 0x80000000u
/* The result of a search that found no end; with MESSAGE_BAD, of one that met a byte in front of it that cannot stand there. */
#define MESSAGE_NO_END 0x7fffffffu
#define MESSAGE_BAD 0x80000000u
/* No number in decimal digits. */
#define MESSAGE_NO_NUMBER (-0x7fffffffffffffffll - 1)
/* A DNS name has 255 bytes, of which each may take four of its text. */
#define MESSAGE_TEXT 1024

/* An attribute: where its first value is, MESSAGE_ABSENT at first. */
struct message_value {
    u32 start;
    u32 length;
    u64 number;
};

/* The mask of offsets into a message's memory, and the address of one. */
#define message_mask(m) ((u32)(sizeof((m)->bytes) - MESSAGE_SLACK - 1))
#define message_at(m, at) ((m)->bytes + ((at) & message_mask(m)))

/* True if the first `size` of 8 bytes, of which `left` are the message's, are those of `word`. */
INLINE int message_stands(const u8 *here, u32 left, u64 word, u32 size)
{
    return left >= size && (load_le64(here) ^ word) << (64 - 8 * size) == 0;
}

/* The same of bytes whose ASCII letters, of which `letters` has the bit 0x20, may be large or small; `word` has small ones. */
INLINE int message_resembles(const u8 *here, u64 letters, u64 word, u32 size)
{
    return ((load_le64(here) | letters) ^ word) << (64 - 8 * size) == 0;
}

/* MESSAGE_READ if they stand there, else why they do not. */
INLINE u32 message_tag(const u8 *here, u32 left, u64 word, u32 size)
{
    u64 differs = load_le64(here) ^ word;

    if (left >= size)
        return differs << (64 - 8 * size) ? MESSAGE_UNEXPECTED : MESSAGE_READ;
    return left && differs << (64 - 8 * left) ? MESSAGE_UNEXPECTED : MESSAGE_TRUNCATED;
}

/* Bytes of a word below a number of up to 128, and from one on: the highest bit of each; as in zero_bytes, of bytes above the
 * first one that is, it may be set without reason. */
INLINE u64 bytes_below(u64 word, u64 number)
{
    return (word - number * 0x0101010101010101) & ~word & 0x8080808080808080;
}

INLINE u64 bytes_from(u64 word, u64 number)
{
    return (((word & 0x7f7f7f7f7f7f7f7f) + (128 - number) * 0x0101010101010101) | word) & 0x8080808080808080;
}

/* The kinds of the next eight bytes, of which `left` are the message's, each in the byte of its place: a bit each, in a table of all bytes. */
INLINE u64 message_kinds(const u8 *here, u32 left, const u8 *table)
{
    u64 word = load_le64(here), kinds = 0;

#pragma unroll
    for (u32 i = 0; i < 64; i += 8)
        kinds |= (u64)table[(u8)(word >> i)] << i;
    if (left < 8)
        kinds &= (1ull << 8 * left) - 1;
    return kinds;
}

/* The place of the first of these marks, of the eight bytes at `at`; MESSAGE_NO_END if it is not among the `left` ones. */
INLINE u32 message_near(u64 marks, u32 at, u32 left)
{
    u32 first = first_byte(marks);

    return first < left ? at + first : MESSAGE_NO_END;
}

/* The bits below the first one of these marks; everything if there is none. */
INLINE u64 marks_before(u64 marks)
{
    return (marks & -marks) - 1;
}

/* Marks without that of the last byte that is left, if it is also one of these. */
INLINE u64 message_but_last(u64 marks, u64 these, u32 left)
{
    return left <= 8 ? marks & ~(these & 0x80ull << 8 * (left - 1)) : marks;
}

/* The bytes of a number of 7 bits a byte: 1 to 4, or MESSAGE_FAULT and why there is none. */
INLINE u32 message_varint_size(const u8 *here, u32 left)
{
    u64 ends = ~load_le64(here) & 0x80808080;

    if (left < 4)
        ends &= (1ull << 8 * left) - 1;
    if (!ends)
        return MESSAGE_FAULT | (left < 4 ? MESSAGE_TRUNCATED : MESSAGE_UNEXPECTED);
    return first_byte(ends) + 1;
}

INLINE u64 message_varint(const u8 *here, u32 size)
{
    u64 word = load_le64(here) & ((1ull << 8 * (size & 7)) - 1);

    return (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1fc000) | (word >> 3 & 0xfe00000);
}

/* A number in decimal digits, at most 18, with `-` in front if it is negative. */
INLINE s64 message_decimal(const u8 *bytes, u32 mask, u32 at, u32 end)
{
    u32 negative = at < end && bytes[at & mask] == '-', digits;
    s64 number = 0;

    at += negative;
    digits = end - at;
    if (at >= end || digits > 18)
        return MESSAGE_NO_NUMBER;
    for (u32 i = 0; i < 18; i++) {
        u32 digit = bytes[(at + i) & mask] - '0';

        if (i >= digits)
            break;
        if (digit > 9)
            return MESSAGE_NO_NUMBER;
        number = number * 10 + digit;
    }
    return negative ? -number : number;
}

/* Passes over a DNS name (RFC 1035, sections 3.1 and 4.1.4), whose pointers have to lead further to the front: where it ends, or
 * MESSAGE_FAULT and what is wrong. `pointed_to` is the number of labels and pointers that may still be read behind pointers: it is compared at each
 * pointer and at the end, and counted down there. The verifier must
 * learn no more of a loop in each of its turns: bytes are counted in memory, of which it knows nothing, and offsets are compared by their
 * difference, or for equality. */
INLINE u32 message_skip_name(const u8 *bytes, u32 mask, u32 at, u32 end, volatile u32 *total, volatile u32 *pointed_to)
{
    u32 limit = at, bound = end, next = 0, turns = 0;

    *total = 1;
    for (;;) {
        u32 length, target;

        forget_bounds(at);
        forget_bounds(turns);
        if (next) {
            if ((s32)(at - bound) >= 0)
                return MESSAGE_FAULT | MESSAGE_POINTER_LOOP;
            turns += 1;
        }
        if (at == end)
            return MESSAGE_FAULT | MESSAGE_TRUNCATED;
        length = bytes[at & mask];
        if (length == 0) {
            u32 left = *pointed_to;

            if (!next)
                return at + 1;
            if (turns > left)
                return MESSAGE_FAULT | MESSAGE_POINTER_LOOP;
            *pointed_to = left - turns;
            return next;
        }
        if (length < 64) {
            if (end - at <= length)
                return MESSAGE_FAULT | MESSAGE_LENGTH_PAST_END;
            *total += length + 1;
            if (*total > 255)
                return MESSAGE_FAULT | MESSAGE_UNEXPECTED;
            at += 1 + length;
        } else if (length >= 0xc0) {
            if (end - at < 2)
                return MESSAGE_FAULT | MESSAGE_TRUNCATED;
            target = load_be16(bytes + (at & mask)) & 0x3fff;
            if (target >= limit || turns > *pointed_to)
                return MESSAGE_FAULT | MESSAGE_POINTER_LOOP;
            if (!next)
                next = at + 2;
            bound = limit;
            at = target;
            limit = target;
        } else {
            return MESSAGE_FAULT | MESSAGE_UNEXPECTED;
        }
        may_goto(endless);
    }
endless:
    return MESSAGE_FAULT | MESSAGE_TOO_LONG;
}

/* Writes the text of a name that was found to be one (escapes as in RFC 4343, section 2.1), and gives its length. `size` is 0,
 * which the verifier does not know, so that it does not follow every length. */
INLINE u32 message_name_text(const u8 *bytes, u32 mask, u32 at, u32 size, u8 *text)
{
    u32 left = 0, byte;

    for (;;) {
        u64 word, escapes;

        forget_bounds(at);
        forget_bounds(left);
        byte = bytes[at & mask];
        if (left == 0) {
            if (byte == 0)
                break;
            if (byte >= 0xc0) {
                at = load_be16(bytes + (at & mask)) & 0x3fff;
            } else {
                left = byte;
                at += 1;
            }
            may_goto(end);
            continue;
        }
        word = load_le64(bytes + (at & mask));
        escapes = bytes_below(word, '!') | bytes_from(word, 0x7f) | zero_bytes(word ^ 0x2e2e2e2e2e2e2e2e) |
                  zero_bytes(word ^ 0x5c5c5c5c5c5c5c5c);
        if (left < 8)
            escapes &= (1ull << 8 * left) - 1;
        if (!escapes) {
            u32 taken = left < 8 ? left : 8;

            *(any64 *)(text + (size & (MESSAGE_TEXT - 1))) = LE64(word);
            size += taken;
            at += taken;
            left -= taken;
            if (left == 0)
                text[size++ & (MESSAGE_TEXT - 1)] = '.';
            may_goto(end);
            continue;
        }
        if (byte == '.' || byte == '\\') {
            text[size++ & (MESSAGE_TEXT - 1)] = '\\';
            text[size++ & (MESSAGE_TEXT - 1)] = byte;
        } else if (byte > ' ' && byte <= '~') {
            text[size++ & (MESSAGE_TEXT - 1)] = byte;
        } else {
            text[size++ & (MESSAGE_TEXT - 1)] = '\\';
            text[size++ & (MESSAGE_TEXT - 1)] = '0' + byte / 100;
            text[size++ & (MESSAGE_TEXT - 1)] = '0' + byte / 10 % 10;
            text[size++ & (MESSAGE_TEXT - 1)] = '0' + byte % 10;
        }
        at += 1;
        left -= 1;
        if (left == 0)
            text[size++ & (MESSAGE_TEXT - 1)] = '.';
        may_goto(end);
    }
end:
    if (size)
        return size - 1;
    text[0] = '.';
    return 1;
}

/* Moves one byte. */
#define message_move_byte(m, to, from) (*message_at(m, to) = *message_at(m, from))

/* Moves a word, and goes on behind it. */
#define message_move_word(type)                                                                  \
    do {                                                                                         \
        *(type *)(bytes + (to & mask)) = *(type *)(bytes + (from & mask));                       \
        to += sizeof(type);                                                                      \
        from += sizeof(type);                                                                    \
    } while (0)

/* Moves bytes to the front, where they may overlap with where they were. Nothing is read where something was just written, which processors wait for. */
INLINE void message_move(u8 *bytes, u32 mask, u32 to, u32 from, u32 length)
{
    while (length >= 8) {
        message_move_word(any64);
        length -= 8;
        may_goto(end);
    }
    if (length & 4)
        message_move_word(any32);
    if (length & 2)
        message_move_word(any16);
    if (length & 1)
        message_move_word(u8);
end:
    return;
}

/* True if the same bytes stand in two places. */
INLINE u32 message_same(const u8 *bytes, u32 mask, u32 one, u32 other, u32 length)
{
    for (;;) {
        u64 differs = load_le64(bytes + (one & mask)) ^ load_le64(bytes + (other & mask));

        forget_bounds(one);
        forget_bounds(other);
        forget_bounds(length);
        if (!length)
            return 1;
        if (length <= 8)
            return differs << (64 - 8 * length & 63) == 0;
        if (differs)
            return 0;
        one += 8;
        other += 8;
        length -= 8;
        may_goto(endless);
    }
endless:
    return 0;
}

/* The first place of `size` bytes, 64 at most: in front of `end`, or MESSAGE_NO_END. Words in which none is like the first of them are passed over.
 * In others, and as long as some of them have come, a bit says of each number of them that as many have not (the shift-or of Baeza-Yates and
 * Gonnet, 1992): so a byte costs the same whatever came before it. `places` has for each byte the bits that it sets, of those behind the last all. */
INLINE u32 message_search(const u8 *bytes, u32 mask, u32 at, u32 end, u32 first, const u64 *places, u32 size)
{
    const u64 last = 1ull << (size - 1);
    u32 left = end - at;
    u64 missing = ~0ull;

    for (;;) {
        u64 word = load_le64(bytes + (at & mask));

        forget_bounds(left);
        if (!left)
            return MESSAGE_NO_END;
        if (~missing || zero_bytes(word ^ first * 0x0101010101010101)) {
            u64 before = missing, any = ~0ull;

#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                missing = missing << 1 | places[(u8)(word >> 8 * i)];
                any &= missing;
            }
            if (!(any & last)) {
                missing = before;
#pragma unroll
                for (u32 i = 0; i < 8; i++) {
                    missing = missing << 1 | places[(u8)(word >> 8 * i)];
                    if (!(missing & last))
                        return left > i ? at + i + 1 - size : MESSAGE_NO_END;
                }
            }
        }
        if (left <= 8)
            return MESSAGE_NO_END;
        at += 8;
        left -= 8;
        may_goto(endless);
    }
endless:
    return MESSAGE_NO_END;
}

/* Runs an automaton (`payload::Table`) on bytes: the state that it comes to. A state is the place of its first transition;
 * nothing leads out of the first and the last one, which is looked for once in eight bytes. `size` is that of the transitions. */
INLINE u32 message_run(const u8 *bytes, u32 mask, u32 at, u32 left, const u8 *classes, const u16 *next, u32 size, u32 state,
                       u32 last)
{
    for (;;) {
        forget_bounds(left);
        if (left >= 8) {
            u64 word = load_le64(bytes + (at & mask));

            for (u32 i = 0; i < 64; i += 8)
                state = next[(state + classes[(u8)(word >> i)]) & size];
            if (state == 0 || state == last)
                break;
            at += 8;
            left -= 8;
        } else if (left) {
            state = next[(state + classes[bytes[at & mask]]) & size];
            at += 1;
            left -= 1;
        } else {
            break;
        }
        may_goto(endless);
    }
endless:
    return state;
}

/* Eight bytes as a number, the first one the highest; zeros stand for those that are not among the `left` first ones. There is no
 * branch for the compiler to make: of a long value's words, the verifier would follow each on every path. */
INLINE u64 message_word(const u8 *here, s32 left)
{
    s64 bytes = left, none = bytes >> 63, some;

    barrier_var(none);
    bytes &= ~none;
    some = (bytes - 8) >> 63;
    barrier_var(some);
    bytes = (bytes & some) | (8 & ~some);
    return load_be64(here) & ~(~0ull >> 4 * bytes >> 4 * bytes);
}

#endif
