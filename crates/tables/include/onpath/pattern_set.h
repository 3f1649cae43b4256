/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Pattern sets: prefixes, words and regular expressions in the text of a URL, found by three automata, one load a byte.
 *
 * A map has blocks of words. The first block is the head. A state is the number of its row's first word; 0 is none. A row
 * has the place of the state's values, the next state for each class of bytes, and the place of its values at the end of the
 * text. */
#ifndef ONPATH_PATTERN_SET_H
#define ONPATH_PATTERN_SET_H

#include "name_set.h"

/* Words of a block, as a power of two. */
#define PATTERN_BLOCK_BITS 10
#define PATTERN_BLOCK_MASK ((1u << PATTERN_BLOCK_BITS) - 1)
/* Bit of a transition to a state that has values. */
#define PATTERN_ACCEPTS 0x80000000u
/* Automata: of prefixes, words and expressions. */
enum { PATTERN_PREFIXES, PATTERN_WORDS, PATTERN_EXPRESSIONS, PATTERN_AUTOMATA };

/* First block of a map. */
struct pattern_head {
    u32 starts[PATTERN_AUTOMATA];
    u32 ends[PATTERN_AUTOMATA];
    u32 unused[10];
    u8 classes[PATTERN_AUTOMATA][256];
};

/* Text, which ends at the end of its memory, and what is found in it: of prefixes, and of words and expressions. */
#define PATTERN_TEXT_MASK 16383
struct pattern_text {
    u32 numbers[2];
    u32 lists[2];
    u8 bytes[PATTERN_TEXT_MASK + 1];
};

/* Puts a byte in front of a text of `size` bytes. Returns the new size. */
INLINE u32 pattern_put(struct pattern_text *text, u32 size, u8 byte)
{
    size++;
    text->bytes[-size & PATTERN_TEXT_MASK] = byte;
    return size;
}

/* Puts a name of `length` bytes, in lower case, in front of a text, without a port and a final dot. Returns the new size. */
INLINE u32 pattern_put_name(struct pattern_text *text, u32 size, const struct name_text *name, u32 length)
{
    length = name_end(name, length);
    forget_constant(size, length);
    while (length) {
        length--;
        size = pattern_put(text, size, name->bytes[length & NAME_MASK]);
        forget_bounds(length);
        forget_constant(size, length);
        may_goto(end);
    }
end:
    return size;
}

/* Returns the value of a hexadecimal digit, or 16. */
INLINE u32 pattern_digit(u8 c)
{
    u32 digit = c - '0', letter = (c | 0x20) - 'a';

    return digit < 10 ? digit : letter < 6 ? letter + 10 : 16;
}

/* Returns byte `number` of a text, counted from its end from 1 on. */
INLINE u8 pattern_at(const struct pattern_text *text, u32 number)
{
    return text->bytes[-number & PATTERN_TEXT_MASK];
}

/* Puts the path and the query of a request, of which there are `length` bytes from offset `start` of a memory with this mask, into an
 * empty text: the first `path` of them are the path. Returns the size.
 *
 * It begins at the end, so that a `..` meets the segment that it removes after itself, and nothing needs to be found again. */
INLINE u32 pattern_put_path(struct pattern_text *text, const u8 *bytes, u32 mask, u32 start, u32 path, u32 length)
{
    u32 size = 0, begins = 0, skipped = 0, is_last = 1, left = length;

    forget_constant(size, length);
    forget_constant(begins, length);
    forget_constant(skipped, length);
    forget_constant(is_last, length);
    while (left) {
        u8 c = bytes[(start + left - 1) & mask];
        u32 is_escaped = 0;

        if (left >= 3 && bytes[(start + left - 3) & mask] == '%') {
            u32 high = pattern_digit(bytes[(start + left - 2) & mask]), low = pattern_digit(c);

            if ((high | low) < 16) {
                c = high << 4 | low;
                is_escaped = 1;
            }
        }
        left -= is_escaped ? 3 : 1;
        if (c == '#' && !is_escaped) {
            /* The fragment is no part of it. */
            size = 0;
            begins = 0;
            skipped = 0;
            is_last = 1;
        } else if (left >= path) {
            size = pattern_put(text, size, c - 'A' < 26u ? c | 0x20 : c);
            begins = size;
        } else if (c != '/') {
            size = pattern_put(text, size, c - 'A' < 26u ? c | 0x20 : c);
        } else {
            u32 segment = size - begins;
            u32 dots = segment && segment <= 2 && pattern_at(text, size) == '.' && pattern_at(text, size - segment + 1) == '.' ? segment : 0;

            if (is_last) {
                /* What a last segment of dots leaves ends in a slash. */
                if (dots) {
                    size = begins;
                    skipped = dots - 1;
                }
                size = pattern_put(text, size, c);
                is_last = 0;
            } else if (dots || skipped) {
                size = begins;
                skipped = dots == 2 ? skipped + 1 : dots ? skipped : skipped - 1;
            } else {
                size = pattern_put(text, size, c);
            }
            begins = size;
        }
        forget_bounds(left);
        forget_constant(size, left);
        forget_constant(begins, left);
        forget_constant(skipped, left);
        forget_constant(is_last, left);
        may_goto(end);
    }
end:
    return path ? size : pattern_put(text, size, '/');
}

/* Returns the block that has a word; null if there is none. */
INLINE const u32 *pattern_block(void *blocks, u32 word)
{
    u32 number = word >> PATTERN_BLOCK_BITS;

    return map_find(blocks, &number);
}

/* Adds the values at a place of a map. Of prefixes the last ones replace others; of words and expressions all count. */
INLINE void pattern_accept(void *blocks, struct pattern_text *text, u32 place, u32 automaton)
{
    const u32 *values = pattern_block(blocks, place);

    if (!values)
        return;
    values += place & PATTERN_BLOCK_MASK & ~3u;
    if (automaton == PATTERN_PREFIXES) {
        text->numbers[0] = values[0];
        text->lists[0] = (text->lists[0] & ~values[2]) | values[1];
    } else {
        if (text->numbers[1] < values[0])
            text->numbers[1] = values[0];
        text->lists[1] |= values[1];
    }
}

/* Searches a text of `size` bytes by automata from `first` on. Returns 1 if something is found. */
INLINE u32 pattern_find(void *blocks, struct pattern_text *text, u32 size, u32 first)
{
    u32 none = 0, automaton;
    const struct pattern_head *head = map_find(blocks, &none);

    text->numbers[0] = 0;
    text->numbers[1] = 0;
    text->lists[0] = 0;
    text->lists[1] = 0;
    if (!head)
        return 0;
#pragma unroll
    for (automaton = 0; automaton < PATTERN_AUTOMATA; automaton++) {
        u32 row = automaton < first ? 0 : head->starts[automaton], left = size;
        const u32 *block;

        while (row && left) {
            u32 word = row + head->classes[automaton][pattern_at(text, left)];

            block = pattern_block(blocks, word);
            if (!block)
                return 0;
            row = block[word & PATTERN_BLOCK_MASK];
            if (row & PATTERN_ACCEPTS) {
                row &= ~PATTERN_ACCEPTS;
                block = pattern_block(blocks, row);
                if (block)
                    pattern_accept(blocks, text, block[row & PATTERN_BLOCK_MASK], automaton);
            }
            left--;
            forget_bounds(row);
            forget_bounds(left);
            may_goto(end);
        }
        if (row && automaton == PATTERN_EXPRESSIONS) {
            u32 word = row + head->ends[automaton];

            block = pattern_block(blocks, word);
            if (block && block[word & PATTERN_BLOCK_MASK])
                pattern_accept(blocks, text, block[word & PATTERN_BLOCK_MASK], automaton);
        }
    }
end:
    return (text->lists[0] | text->lists[1]) != 0;
}

#endif
