/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Documents in messages, JSON (RFC 8259) and XML 1.0. An automaton reads a document byte by byte, and passes over
 * eight bytes at a time where it has nothing to do. Two tables drive it: its own steps by state and class of byte,
 * and a trie of the wanted paths, in which it takes a step for each byte of the current path. The open elements are
 * kept level by level in the message's memory. The verifier tracks nothing in there, so it explores neither levels
 * nor lengths. */
#ifndef ONPATH_DOCUMENT_H
#define ONPATH_DOCUMENT_H

#include "parse_message.h"

/* Step: the row of the next state, an action, and a bit that is set if a number or a name ends before the byte. The
 * last two columns of a row are special. The first of them has the byte up to which the state passes over others,
 * the second the step at the end of the text. */
#define DOCUMENT_STEPS 4096
#define DOCUMENT_ROW 0xfff
#define DOCUMENT_ACTION(step) ((step) >> 12 & 15)
#define DOCUMENT_BEHIND 0x10000

enum {
    JSON_PASS,
    JSON_FAIL,
    JSON_CUT,
    JSON_END,
    JSON_SCALAR,
    JSON_STRING,
    JSON_STRING_END,
    JSON_WORD_END,
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_OBJECT_END,
    JSON_ARRAY_END,
    JSON_COMMA,
    JSON_NAME,
    JSON_LETTER,
};

enum {
    XML_PASS,
    XML_FAIL,
    XML_CUT,
    XML_END,
    XML_OPEN,
    XML_LETTER,
    XML_OPENED,
    XML_ATTRIBUTE,
    XML_VALUE,
    XML_VALUE_END,
    XML_EMPTY,
    XML_CLOSING,
    XML_CLOSE,
    XML_SECTION,
    XML_BACK,
};

/* Position of a name. */
struct document_name {
    u16 start;
    u16 length;
};

/* Open object, array or element: its node in the trie of paths, and the index of an array's current element. */
struct document_level {
    u16 node;
    u16 index;
    struct document_name name;
};

#define DOCUMENT_OBJECT 0xffff

/* State of a reading: the level, and the start of the current value and name. */
struct document {
    u32 level;
    u32 start;
    u32 attributes;
    u32 has_root;
    u32 same;
    struct document_name name;
    u64 factor;
};

/* Greatest number of an element's attributes: MOST_ATTRIBUTES of `payload`. */
#define DOCUMENT_ATTRIBUTES 64
/* Number of attributes that a name is compared with at once. */
#define DOCUMENT_AT_ONCE 8

/* Attribute of the current element: hash and position of its name. */
struct document_attribute {
    u64 key;
    struct document_name name;
    u32 unused;
};

/* Trie of the wanted paths. Each node has the number of the value whose path ends there, then the next nodes by
 * class of byte. Node 0 leads to no value; the root is the node after it. */
struct document_paths {
    const u8 *classes;
    const u16 *places;
    u32 size;
    u32 first;
};

INLINE u32 document_place(struct document_paths paths, u32 place, u32 byte)
{
    return paths.places[(place + paths.classes[byte]) & paths.size];
}

/* Notes a value if it is the first of its path. */
INLINE void document_found(struct document_paths paths, u32 place, struct message_value *values, u32 mask, u32 start, u32 end)
{
    u32 number = paths.places[place & paths.size];
    struct message_value *value = values + (number & mask);

    if (number && start < value->start) {
        value->start = start;
        value->length = end - start;
    }
}

/* Returns the node of an array's element. A message holds fewer than 10,000 elements. */
INLINE u32 document_element(struct document_paths paths, u32 place, u32 index)
{
    u32 digit, begun = 0;

    place = document_place(paths, place, '[');
    if (!place)
        return 0;
    for (u32 unit = 1000; unit; unit /= 10) {
        digit = index / unit % 10;
        begun |= digit | (unit == 1);
        /* The verifier does not know the bounds of a remainder. */
        barrier_var(digit);
        if (begun)
            place = document_place(paths, place, '0' + (digit & 15));
    }
    return document_place(paths, place, ']');
}

/* Passes over the next eight bytes, up to the first one that `stops` marks. Returns 0 if the text ends among them. */
INLINE u32 document_pass(u32 *at, u32 *left, u64 stops)
{
    u32 passed = stops ? first_byte(stops) : 8;

    if (*left <= passed)
        return 0;
    *at += passed;
    *left -= passed;
    return 1;
}

/* Returns the automaton's step in a column of a state's row. */
INLINE u32 document_step(const u32 *steps, u32 state, u32 column)
{
    return steps[(state + column) & (DOCUMENT_STEPS - 1)];
}

/* Reads a JSON text, and returns a message_status. `row` is the size of the automaton's rows. */
INLINE u32 message_json(const u8 *bytes, u32 mask, u32 at, u32 end, const u8 *classes, const u32 *steps, u32 row,
                        struct document_paths paths, struct message_value *values, u32 numbers, volatile struct document *open,
                        volatile struct document_level *levels, u32 levels_mask, u32 deepest)
{
    const u32 string = 0, name = row, value = 2 * row;
    u32 state = value, place = paths.first, left = end - at, step, level;

    open->level = 0;
    for (;;) {
        u32 byte, element = DOCUMENT_OBJECT;

        forget_bounds(at);
        forget_bounds(left);
        forget_bounds(state);
        forget_bounds(place);
        if (state == string || (state == name && !place)) {
            u64 word = load_le64(bytes + (at & mask));
            u64 stops = bytes_below(word, 0x20) | bytes_from(word, 0x80) | zero_bytes(word ^ 0x2222222222222222) |
                        zero_bytes(word ^ 0x5c5c5c5c5c5c5c5c);

            if (!document_pass(&at, &left, stops))
                return MESSAGE_TRUNCATED;
            if (!stops) {
                may_goto(endless);
                continue;
            }
        }
        if (!left) {
            step = document_step(steps, state, row - 1);
            if (step & DOCUMENT_BEHIND)
                document_found(paths, place, values, numbers, open->start, at);
            return DOCUMENT_ACTION(step) == JSON_END && !open->level ? MESSAGE_READ : MESSAGE_TRUNCATED;
        }
        byte = bytes[at & mask];
        step = document_step(steps, state, classes[byte]);
        state = step & DOCUMENT_ROW;
        if (step & DOCUMENT_BEHIND)
            document_found(paths, place, values, numbers, open->start, at);
        switch (DOCUMENT_ACTION(step)) {
        case JSON_PASS:
            break;
        case JSON_FAIL:
            return MESSAGE_UNEXPECTED;
        case JSON_SCALAR:
            open->start = at;
            break;
        case JSON_STRING:
            open->start = at + 1;
            break;
        case JSON_STRING_END:
            document_found(paths, place, values, numbers, open->start, at);
            break;
        case JSON_WORD_END:
            document_found(paths, place, values, numbers, open->start, at + 1);
            break;
        case JSON_OBJECT:
        case JSON_ARRAY:
            level = open->level;
            if (level >= deepest)
                return MESSAGE_TOO_DEEP;
            level += 1;
            open->level = level;
            if (DOCUMENT_ACTION(step) == JSON_ARRAY)
                element = 0;
            levels[level & levels_mask].node = place;
            levels[level & levels_mask].index = element;
            break;
        case JSON_OBJECT_END:
        case JSON_ARRAY_END:
            level = open->level;
            if (!level || (levels[level & levels_mask].index == DOCUMENT_OBJECT) != (DOCUMENT_ACTION(step) == JSON_OBJECT_END))
                return MESSAGE_UNEXPECTED;
            open->level = level - 1;
            break;
        case JSON_COMMA:
            level = open->level;
            if (!level)
                return MESSAGE_UNEXPECTED;
            element = levels[level & levels_mask].index;
            if (element != DOCUMENT_OBJECT) {
                element += 1;
                levels[level & levels_mask].index = element;
                place = levels[level & levels_mask].node;
                state = value;
            }
            break;
        case JSON_NAME:
            place = levels[open->level & levels_mask].node;
            if (place != paths.first)
                place = document_place(paths, place, '.');
            break;
        case JSON_LETTER:
            place = document_place(paths, place, byte);
            break;
        }
        if (element != DOCUMENT_OBJECT)
            place = document_element(paths, place, element);
        at += 1;
        left -= 1;
        may_goto(endless);
    }
endless:
    return MESSAGE_TOO_LONG;
}

/* Hashes a name. The hash is keyed with a random number for each document, so different names rarely collide. An
 * attacker may choose two names that collide for about half of the keys; therefore names with equal hashes are
 * compared. */
INLINE u64 document_key(const u8 *bytes, u32 mask, volatile struct document *open, u32 start, u32 length)
{
    u64 factor = open->factor, key = length;
    u32 done;

    open->same = 0;
    done = open->same;
    for (;;) {
        u32 left = length - done;
        u64 word = load_le64(bytes + ((start + done) & mask));

        forget_bounds(done);
        if (left < 8)
            word &= (1ull << 8 * left) - 1;
        key = (key + word) * factor;
        key ^= key >> 32;
        if (left <= 8)
            return key;
        done += 8;
        may_goto(endless);
    }
endless:
    return key;
}

/* Returns true if the last name that was read is among the element's attributes; if not, adds it. Hashes are
 * compared, several at once without a branch; then the names whose hashes are equal. */
INLINE u32 document_is_among(const u8 *bytes, u32 mask, volatile struct document *open, volatile struct document_attribute *attributes)
{
    u32 start = open->name.start, length = open->name.length, count = open->attributes, at;
    u64 key = document_key(bytes, mask, open, start, length);
    volatile struct document_attribute *new = attributes + (count & (DOCUMENT_ATTRIBUTES - 1));

    open->same = 0;
    at = open->same;
    for (;;) {
        u32 begin = at & (DOCUMENT_ATTRIBUTES - DOCUMENT_AT_ONCE);
        volatile struct document_attribute *known = attributes + begin;
        u64 like = 0;

        forget_bounds(at);
        if (at >= count)
            break;
#pragma unroll
        for (u32 i = 0; i < DOCUMENT_AT_ONCE; i++) {
            u64 differs = known[i].key ^ key, negated = -differs;

            barrier_var(negated);
            like |= (~(differs | negated) >> 63) << (8 * i + 7);
        }
        like &= ~0ull << 8 * (at - begin & 7);
        if (count - begin < DOCUMENT_AT_ONCE)
            like &= (1ull << 8 * (count - begin)) - 1;
        if (like) {
            u32 one = begin + first_byte(like);
            volatile struct document_attribute *other = attributes + (one & (DOCUMENT_ATTRIBUTES - 1));

            if (other->name.length == length && message_same(bytes, mask, start, other->name.start, length))
                return 1;
            at = one + 1;
        } else {
            at = begin + DOCUMENT_AT_ONCE;
        }
        may_goto(endless);
    }
endless:
    new->key = key;
    new->name.start = start;
    new->name.length = length;
    open->attributes = count + 1;
    return 0;
}

/* Reads an XML document, and returns a message_status. */
INLINE u32 message_xml(const u8 *bytes, u32 mask, u32 at, u32 end, const u8 *classes, const u32 *steps, u32 row,
                       struct document_paths paths, struct message_value *values, u32 numbers, volatile struct document *open,
                       volatile struct document_level *levels, u32 levels_mask, u32 deepest,
                       volatile struct document_attribute *attributes)
{
    const u32 outside = 6 * row;
    u32 state = outside, place = 0, left = end - at, step, level;

    open->level = 0;
    open->has_root = 0;
    open->factor = unforeseen() | 1;
    for (;;) {
        u32 byte;

        forget_bounds(at);
        forget_bounds(left);
        forget_bounds(state);
        forget_bounds(place);
        if (state < outside) {
            u64 word = load_le64(bytes + (at & mask));
            u64 stop = document_step(steps, state, row - 2) * 0x0101010101010101;
            u64 stops = zero_bytes(word ^ stop) | zero_bytes(word ^ 0x3c3c3c3c3c3c3c3c);

            if (!document_pass(&at, &left, stops))
                return MESSAGE_TRUNCATED;
            if (!stops) {
                may_goto(endless);
                continue;
            }
        }
        if (!left) {
            step = document_step(steps, state, row - 1);
            return DOCUMENT_ACTION(step) == XML_END && open->has_root ? MESSAGE_READ : MESSAGE_TRUNCATED;
        }
        byte = bytes[at & mask];
        step = document_step(steps, state, classes[byte]);
        state = step & DOCUMENT_ROW;
        if (step & DOCUMENT_BEHIND)
            open->name.length = at - open->name.start;
        switch (DOCUMENT_ACTION(step)) {
        case XML_PASS:
            break;
        case XML_FAIL:
            return MESSAGE_UNEXPECTED;
        case XML_OPEN:
            level = open->level;
            place = paths.first;
            if (level)
                place = levels[level & levels_mask].node;
            else if (open->has_root)
                return MESSAGE_UNEXPECTED;
            if (level >= deepest)
                return MESSAGE_TOO_DEEP;
            level += 1;
            open->level = level;
            open->has_root = 1;
            open->attributes = 0;
            levels[level & levels_mask].name.start = at;
            place = document_place(paths, place, byte);
            break;
        case XML_LETTER:
            place = document_place(paths, place, byte);
            break;
        case XML_OPENED:
            level = open->level & levels_mask;
            levels[level].name.length = at - levels[level].name.start;
            levels[level].node = document_place(paths, place, '/');
            break;
        case XML_ATTRIBUTE:
            open->name.start = at;
            place = document_place(paths, levels[open->level & levels_mask].node, '@');
            place = document_place(paths, place, byte);
            break;
        case XML_VALUE:
            open->start = at + 1;
            break;
        case XML_VALUE_END:
            if (open->attributes >= DOCUMENT_ATTRIBUTES)
                return MESSAGE_TOO_DEEP;
            if (document_is_among(bytes, mask, open, attributes))
                return MESSAGE_UNEXPECTED;
            document_found(paths, place, values, numbers, open->start, at);
            break;
        case XML_CLOSING:
            open->name.start = at;
            break;
        case XML_SECTION:
            if (!open->level)
                return MESSAGE_UNEXPECTED;
            break;
        case XML_CLOSE:
            level = open->level;
            if (!level)
                return MESSAGE_UNEXPECTED;
            if (levels[level & levels_mask].name.length != open->name.length ||
                !message_same(bytes, mask, levels[level & levels_mask].name.start, open->name.start, open->name.length))
                return MESSAGE_UNEXPECTED;
            open->level = level - 1;
            if (level == 1)
                state = outside;
            break;
        case XML_EMPTY:
            level = open->level - 1;
            open->level = level;
            if (!level)
                state = outside;
            break;
        case XML_BACK:
            if (!open->level)
                state = outside;
            break;
        }
        at += 1;
        left -= 1;
        may_goto(endless);
    }
endless:
    return MESSAGE_TOO_LONG;
}

#endif
