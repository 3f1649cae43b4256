/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Name sets: rules for domain names, found by one pass over a name, from its end.
 *
 * Buckets have slots {u32 record, u32 tag}: the number of a rule's first record, and the upper half of its name's hash.
 * A rule is in the bucket that the lower half chooses, or in the first one behind it with a free slot. Slots are taken
 * in order, and three of eight are free, so a search ends soon. */
#ifndef ONPATH_NAME_SET_H
#define ONPATH_NAME_SET_H

#include "search.h"
#include "seeds.h"
#include "tables.h"

/* Longest name of a rule, and most bytes of a name that are looked at: with a final dot and a port. */
#define NAME_LONGEST 253
#define NAME_MOST 264
/* Most digits of a port. */
#define NAME_PORT 5
/* Slots of a bucket. */
#define NAME_SLOTS 8
/* Bytes of a name in a rule's first record, and in each further one. */
#define NAME_IN_FRONT 22
#define NAME_PIECE 32
/* Scope of a rule: the name, and the names below it. */
enum { NAME_ITSELF = 1, NAME_BELOW = 2 };

/* A rule's first record. Its name's other bytes follow in further ones, and zeros behind them. Record 0 is none of a
 * rule: its length is the greatest number of labels that a rule has. */
struct name_record {
    u32 number;
    u32 lists;
    u8 length;
    u8 scope;
    u8 name[NAME_IN_FRONT];
};

/* Greatest number of labels of a DNS name. */
#define NAME_LABELS 128
/* Result in place of a record's number, for DNS names of which `name_find_labels` cannot tell. */
#define NAME_NOT_PLAIN 0xffffffffu

/* Name of a packet, in lower case, with room for words that begin before it or end behind it. Offsets are masked. Of a
 * DNS name also the offsets at which its labels begin. */
#define NAME_MASK 511
struct name_text {
    u8 front[8];
    u8 bytes[NAME_MASK + 1 + 64];
    u8 starts[NAME_LABELS];
};

/* Returns 8 bytes with their ASCII letters in lower case. */
INLINE u64 name_lower(u64 word)
{
    u64 ones = 0x0101010101010101, low = word & 0x7f * ones;
    u64 from_a = low + (0x80 - 'A') * ones, behind_z = low + (0x7f - 'Z') * ones;

    return word | (~word & 0x80 * ones & (from_a ^ behind_z)) >> 2;
}

/* Returns the number of bytes of a long name that are not looked at: no rule is so long. */
INLINE u32 name_front(u32 length)
{
    return length > NAME_MOST ? length - NAME_MOST : 0;
}

/* Copies the end of a name of `length` bytes from offset `start` of a memory with this mask, in lower case. Returns the
 * number of bytes. The last word comes first: an offset that started at 0 would be a new constant for a checker in each
 * iteration. */
INLINE u32 name_copy(struct name_text *text, const u8 *from, u32 mask, u32 start, u32 length)
{
    u32 front = name_front(length), left;

    if (!length)
        return 0;
    start += front;
    length -= front;
    for (left = length;;) {
        u32 at = (left - 1) & 0x1f8;

        *(any64 *)(text->bytes + at) = name_lower(*(const any64 *)(from + ((start + at) & mask)));
        if (left <= 8)
            return length;
        left -= 8;
        forget_bounds(left);
        may_goto(end);
    }
end:
    return 0;
}

/* Returns the length without a port, and then without a final dot. */
INLINE u32 name_end(const struct name_text *text, u32 length)
{
    u32 digits;

#pragma unroll
    for (digits = 0; digits <= NAME_PORT; digits++) {
        u32 at = length - 1 - digits;
        u8 c = text->bytes[at & NAME_MASK];

        if (digits >= length || (c != ':' && (c < '0' || c > '9')))
            break;
        if (c == ':') {
            length = at;
            break;
        }
    }
    return length - (length && text->bytes[(length - 1) & NAME_MASK] == '.');
}

/* Returns true if a rule has the name from offset `at` to `length`, and the scope. */
INLINE u32 name_is(void *records, const struct name_text *text, u32 at, u32 length, u32 number, u32 scope)
{
    const struct name_record *record = map_find(records, &number);
    const u8 *name = text->bytes + (at & NAME_MASK);
    u32 behind;

    if (!record || record->length != length - at || !(record->scope & scope))
        return 0;
    if (*(const any64 *)record->name != *(const any64 *)name ||
        *(const any64 *)(record->name + 8) != *(const any64 *)(name + 8) ||
        *(const any32 *)(record->name + 16) != *(const any32 *)(name + 16) ||
        *(const any16 *)(record->name + 20) != *(const any16 *)(name + 20))
        return 0;
    for (behind = at + NAME_IN_FRONT; behind < length; behind += NAME_PIECE) {
        const any64 *here = (const any64 *)(text->bytes + (behind & NAME_MASK)), *there;

        number++;
        there = map_find(records, &number);
        if (!there || there[0] != here[0] || there[1] != here[1] || there[2] != here[2] || there[3] != here[3])
            return 0;
        forget_bounds(behind);
        may_goto(end);
    }
    return 1;
end:
    return 0;
}

/* Comparison of a rule with the name from offset `at` to `length`. */
typedef u32 name_comparison(struct name_text *text, u32 at, u32 length, u32 record, u32 scope);

/* Finds the rule with the name from offset `at` to `length`, which has this hash. Returns the number of its first
 * record, or 0. */
INLINE u32 name_probe(void *buckets, u32 count, name_comparison *is, struct name_text *text, u32 at, u32 length, u64 hash, u32 scope)
{
    u32 tag, number, place;

    hash ^= hash >> 32;
    hash *= 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
    tag = hash >> 32;
    number = (u64)(u32)hash * count >> 32;
    for (;;) {
        const u32 *slot = map_find(buckets, &number);

        if (!slot)
            return 0;
#pragma unroll
        for (place = 0; place < NAME_SLOTS; place++, slot += 2) {
            u32 record = slot[0];

            if (!record)
                return 0;
            if (slot[1] == tag && is(text, at, length, record, scope))
                return record;
        }
        number++;
        if (number == count)
            number = 0;
        may_goto(end);
    }
end:
    return 0;
}

/* Search for the rule with the name from offset `at` to `length`. */
typedef u32 name_search(struct name_text *text, u32 at, u32 length, u64 hash, u32 scope);

/* Writes zeros behind a name, with which records are filled. */
INLINE void name_pad(struct name_text *text, u32 length)
{
#pragma unroll
    for (u32 pad = 0; pad < NAME_PIECE + 8; pad += 8)
        *(any64 *)(text->bytes + (length & NAME_MASK) + pad) = 0;
}

/* Finds the rule that decides for a name, of which there are `length` bytes. Returns the number of its first record, or
 * 0. A hash takes the name from its end, eight bytes of a label at a time, so that at each dot it is that of the name's
 * rest. The longest rest that has a rule is the last one found. No rest is looked up that has more labels or bytes than any rule. */
INLINE u32 name_find(void *records, name_search *search, struct name_text *text, u32 length)
{
    u64 seed = hash_seeds.buckets, factor = 0x9e3779b97f4a7c15 ^ seed << 1, hash = ~seed;
    u32 none = 0, found = 0, rule, at, labels;
    const struct name_record *all = map_find(records, &none);

    length = name_end(text, length);
    if (!all || !length)
        return 0;
    labels = all->length;
    name_pad(text, length);
    for (at = length;;) {
        /* Bytes in front, the last one lowest, and how many of them stand behind the last dot. */
        u64 word = __builtin_bswap64(load_le64(text->front + (at & NAME_MASK)));
        u64 dots = zero_bytes(word ^ 0x2e2e2e2e2e2e2e2e);
        u32 size = dots ? first_byte(dots) : 8;

        if (size > at)
            size = at;
        if (size) {
            if (size < 8)
                word &= (1ull << 8 * size) - 1;
            hash = (hash ^ word) * factor;
            hash ^= hash >> 32;
            at -= size;
        }
        if (!at)
            break;
        if (size < 8) {
            if (!labels--)
                return found;
            rule = search(text, at, length, hash, NAME_BELOW);
            if (rule)
                found = rule;
            hash = (hash ^ '.') * factor;
            at--;
            if (!at)
                break;
        }
        if (length - at > NAME_LONGEST)
            return found;
        forget_bounds(at);
        may_goto(end);
    }
    rule = search(text, 0, length, hash, NAME_ITSELF);
    return rule ? rule : found;
end:
    return found;
}

/* Returns a bit for each byte that the text of a DNS name writes in another way, and for each colon, which may stand before
 * a port. */
INLINE u64 name_other(u64 word)
{
    return name_escapes(word) | zero_bytes(word ^ 0x3a3a3a3a3a3a3a3a);
}

/* Finds the rule that decides for the DNS name at offset `start` of a memory with this mask, which is well-formed, as
 * `name_find` does for its text. `start` is 6 at least, since words in front of labels are loaded. Returns NAME_NOT_PLAIN if a label has bytes that `name_other` finds, or if the name goes
 * on elsewhere.
 *
 * The text is written for comparisons alone. A hash takes the bytes from where the packet was copied to: a load from a text
 * that was just written by other stores waits until they are complete. */
INLINE u32 name_find_labels(void *records, name_search *search, struct name_text *text, const u8 *bytes, u32 mask, u32 start)
{
    u64 seed = hash_seeds.buckets, factor = 0x9e3779b97f4a7c15 ^ seed << 1, hash = ~seed;
    u32 none = 0, found = 0, count = 0, at = 0, length, from, left, rule, labels;
    const struct name_record *all = map_find(records, &none);

    if (!all)
        return 0;
    labels = all->length;
    forget_constant(at, start);
    forget_constant(count, start);
    for (;;) {
        left = bytes[(start + at) & mask];
        if (!left)
            break;
        if (left > 63 || count >= NAME_LABELS - 1)
            return NAME_NOT_PLAIN;
        text->starts[count & (NAME_LABELS - 1)] = at;
        count++;
        for (;;) {
            u64 word = load_le64(bytes + ((start + 1 + at) & mask)), other = name_other(word);

            if (left < 8)
                other &= (1ull << (8 * left & 63)) - 1;
            if (other)
                return NAME_NOT_PLAIN;
            *(any64 *)(text->bytes + (at & NAME_MASK)) = LE64(name_lower(word));
            if (left <= 8)
                break;
            at += 8;
            left -= 8;
            forget_bounds(at);
            forget_bounds(left);
            may_goto(end);
        }
        at += left;
        text->bytes[at & NAME_MASK] = '.';
        at++;
        forget_bounds(at);
        forget_bounds(count);
        may_goto(end);
    }
    if (!count)
        return 0;
    length = at - 1;
    name_pad(text, length);
    for (at = length;;) {
        count--;
        from = text->starts[count & (NAME_LABELS - 1)];
        for (left = at - from;;) {
            u64 word = load_le64(bytes + ((start + from + left - 7) & mask));

            word = name_lower(__builtin_bswap64(word));
            if (left < 8)
                word &= (1ull << (8 * left & 63)) - 1;
            hash = (hash ^ word) * factor;
            hash ^= hash >> 32;
            if (left <= 8)
                break;
            left -= 8;
            forget_bounds(left);
            may_goto(end);
        }
        if (!count)
            break;
        if (!labels--)
            return found;
        rule = search(text, from, length, hash, NAME_BELOW);
        if (rule)
            found = rule;
        hash = (hash ^ '.') * factor;
        at = from - 1;
        forget_bounds(at);
        forget_bounds(count);
        may_goto(end);
    }
    rule = search(text, 0, length, hash, NAME_ITSELF);
    return rule ? rule : found;
end:
    return found;
}

#endif
