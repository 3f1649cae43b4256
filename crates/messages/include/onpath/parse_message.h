/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Messages of applications, in memory. Each access is masked to that memory, so that a verifier tracks no offset.
 * Offsets count from the message's start. The memory has MESSAGE_SLACK bytes after the last one that the mask
 * allows, for words that begin there. The target defines `may_goto`, `forget_bounds` and `barrier_var` before, and
 * `unforeseen` for `document.h` (crate `messages`). */
#ifndef ONPATH_PARSE_MESSAGE_H
#define ONPATH_PARSE_MESSAGE_H

#include "packet.h"
#include "search.h"

/* Values of `message_status`. */
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
/* Offset of an attribute that the message does not have. */
#define MESSAGE_ABSENT 0xffffffffu
/* Bit that a function sets, together with a status, if it has no offset to return. */
#define MESSAGE_FAULT 0x80000000u
/* Result of a search that found no end. MESSAGE_BAD is set if the search met a byte that is not allowed before the
 * end. */
#define MESSAGE_NO_END 0x7fffffffu
#define MESSAGE_BAD 0x80000000u
/* Result of parsing digits that are not a number. */
#define MESSAGE_NO_NUMBER (-0x7fffffffffffffffll - 1)
/* Size of a DNS name's text: the name has 255 bytes, each of which takes up to four in the text. */
#define MESSAGE_TEXT 1024

/* First value of an attribute; its start is MESSAGE_ABSENT until one is found. */
struct message_value {
    u32 start;
    u32 length;
    u64 number;
};

/* Mask of offsets into a message's memory, and address of an offset. */
#define message_mask(m) ((u32)(sizeof((m)->bytes) - MESSAGE_SLACK - 1))
#define message_at(m, at) ((m)->bytes + ((at) & message_mask(m)))

/* Returns true if the first `size` of 8 bytes, of which `left` are the message's, equal those of `word`. */
INLINE int message_stands(const u8 *here, u32 left, u64 word, u32 size)
{
    return left >= size && (load_le64(here) ^ word) << (64 - 8 * size) == 0;
}

/* Does the same without case. `letters` has the bit 0x20 for each ASCII letter; `word` has lower-case letters. */
INLINE int message_resembles(const u8 *here, u64 letters, u64 word, u32 size)
{
    return ((load_le64(here) | letters) ^ word) << (64 - 8 * size) == 0;
}

/* Compares bytes as message_stands does. Returns MESSAGE_READ if they are equal, else the reason. */
INLINE u32 message_tag(const u8 *here, u32 left, u64 word, u32 size)
{
    u64 differs = load_le64(here) ^ word;

    if (left >= size)
        return differs << (64 - 8 * size) ? MESSAGE_UNEXPECTED : MESSAGE_READ;
    return left && differs << (64 - 8 * left) ? MESSAGE_UNEXPECTED : MESSAGE_TRUNCATED;
}

/* Returns the kinds of the next eight bytes, of which `left` are the message's. Each byte of the result has one bit
 * for each kind of the message's byte; `table` has the kinds of all bytes. */
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

/* Returns the offset of the first mark in the eight bytes at `at`; MESSAGE_NO_END if it is not among the `left`
 * ones. */
INLINE u32 message_near(u64 marks, u32 at, u32 left)
{
    u32 first = first_byte(marks);

    return first < left ? at + first : MESSAGE_NO_END;
}

/* Returns the bits below the first mark; all bits if there is none. */
INLINE u64 marks_before(u64 marks)
{
    return (marks & -marks) - 1;
}

/* Clears the mark of the last byte that is left if `these` has it too. */
INLINE u64 message_but_last(u64 marks, u64 these, u32 left)
{
    return left <= 8 ? marks & ~(these & 0x80ull << 8 * (left - 1)) : marks;
}

/* Returns the size of a number of 7 bits a byte: 1 to 4, or MESSAGE_FAULT with the reason. */
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

/* Parses a number of at most 18 decimal digits, after `-` if it is negative. */
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

/* Passes over a DNS name (RFC 1035, sections 3.1 and 4.1.4), whose pointers must lead to earlier bytes. Returns the
 * offset after it, or MESSAGE_FAULT with the reason.
 *
 * `pointed_to` is the number of labels and pointers that may still be read through pointers. It is compared at each
 * pointer and at the end, and decreased there.
 *
 * The verifier must learn nothing new in any iteration. So bytes are counted in memory, which it does not track, and
 * offsets are compared by their difference, or for equality. */
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

/* Writes the text of a well-formed name (escapes as in RFC 4343, section 2.1), and returns its length. `size` is 0,
 * unknown to the verifier, so that it does not track every length. */
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
        escapes = name_escapes(word);
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

/* Moves a word, and advances both offsets. */
#define message_move_word(type)                                                                  \
    do {                                                                                         \
        *(type *)(bytes + (to & mask)) = *(type *)(bytes + (from & mask));                       \
        to += sizeof(type);                                                                      \
        from += sizeof(type);                                                                    \
    } while (0)

/* Moves bytes to a lower offset; the ranges may overlap. No load reads bytes of a recent store, which would stall
 * the processor. */
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

/* Returns true if the bytes at two offsets are equal. */
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

/* Returns the first offset of `size` bytes, at most 64, before `end`, or MESSAGE_NO_END. Words without the first of
 * them are skipped, unless a match is in progress. Other words go through the shift-or algorithm of Baeza-Yates and
 * Gonnet (1992), in which a clear bit of `missing` is a prefix that matches. So a byte costs the same whatever
 * precedes it. `places` has the mask of each byte. */
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

/* Runs an automaton (`payload::Table`) on bytes, and returns its last state. A state is the index of its first
 * transition. Nothing leads out of the first and the last state, which is tested once in eight bytes. `size` is the
 * mask of indices into the transitions. */
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

/* Loads eight bytes as a big-endian number; bytes after the `left` first ones count as zero. The code has no branch:
 * with one for each word of a long value, the verifier would explore all combinations. */
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
