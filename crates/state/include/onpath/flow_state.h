/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Per-flow state: an eight-way set-associative table. A key belongs to one set, whose lock is held for as long
 * as its flows are used. Each set has an LRU counter of its uses, and each way keeps the counter's value at its last
 * use; the difference gives the least recently used way, even when the counter wraps. */
#ifndef ONPATH_FLOW_STATE_H
#define ONPATH_FLOW_STATE_H

#include "keys.h"
#include "types.h"

#define FLOW_WAYS SET_WAYS
/* Where a flow is: the number of its way; FLOW_WAYS if it has none; FLOW_AGED plus the number if it has aged out,
 * which is as if it had none. */
#define FLOW_AGED 16

/* The number of a way, which came about on one of many paths: in a large program by way of memory, so that a
 * target that verifies code forgets which. To do so it borrows a word of the set, whose lock is held. */
INLINE u32 flow_forget(u32 *word, u32 way)
{
#ifdef ONPATH_LARGE
    volatile u32 *borrowed = word;
    u32 kept = *word;

    *borrowed = way;
    way = *borrowed;
    *borrowed = kept;
    paths_meet();
#else
    (void)word;
#endif
    return way;
}

INLINE u32 flow_find(u32 *tags, u32 tag, const void *ways, u32 size, const u64 *key, u32 words)
{
    return flow_forget(tags, way_find(tags, tag, ways, size, key, words));
}

/* Whether what was last used then is too old. A clock that was read before the lock was taken may be behind. */
INLINE u32 flow_aged(u64 seen, u64 now, u64 idle)
{
    return (s64)(now - seen) > (s64)idle;
}

/* The way that a new flow takes: the first empty one, else the least recently used, whose flow is evicted. */
INLINE u32 flow_oldest(const u32 *tags, const u32 *used, u32 lru, u64 *evicted)
{
    u32 oldest = 0, age = 0;

#pragma unroll
    for (u32 at = 0; at < FLOW_WAYS; at++) {
        if (!tags[at])
            return at;
        if (lru - used[at] > age) {
            oldest = at;
            age = lru - used[at];
        }
    }
    *evicted += 1;
    return oldest;
}

INLINE u32 flow_victim(u32 *tags, const u32 *used, u32 lru, u64 *evicted)
{
    return flow_forget(tags, flow_oldest(tags, used, lru, evicted));
}

/* The same where flows end when unused; each way has the time of its last use at `seen`. */
INLINE u32 flow_oldest_aged(const u32 *tags, const u32 *used, u32 lru, u64 *evicted, const void *seen, u32 size,
                            u64 now, u64 idle)
{
    u32 oldest = 0, age = 0;

#pragma unroll
    for (u32 at = 0; at < FLOW_WAYS; at++) {
        if (!tags[at] || flow_aged(*(const u64 *)((const u8 *)seen + at * size), now, idle))
            return at;
        if (lru - used[at] > age) {
            oldest = at;
            age = lru - used[at];
        }
    }
    *evicted += 1;
    return oldest;
}

INLINE u32 flow_victim_aged(u32 *tags, const u32 *used, u32 lru, u64 *evicted, const void *seen, u32 size, u64 now,
                            u64 idle)
{
    return flow_forget(tags, flow_oldest_aged(tags, used, lru, evicted, seen, size, now, idle));
}

/* Gives a way of `size` bytes to a key, with zeros after it. */
INLINE void flow_begin(void *way, u32 size, const u64 *key, u32 words)
{
    u64 *to = way;

#ifdef ONPATH_LARGE
    /* Without a loop, through which a target that verifies code goes for each path. */
    paths_meet();
#pragma unroll
    for (u32 i = 0; i < size / 8; i++)
        *(volatile u64 *)&to[i] = i < words ? key[i] : 0;
#else
#pragma unroll
    for (u32 i = 0; i < words; i++)
        to[i] = key[i];
    for (u32 i = words; i < size / 8; i++) {
        to[i] = 0;
        /* The compiler would call a function for it. */
        barrier_var(i);
    }
#endif
}

#endif
