/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Per-flow state: an eight-way set-associative table. A key belongs to one set, whose lock is held as long as its flows
 * are used. Each set has an LRU counter, which each use advances, and each way keeps the counter's value at its last
 * use. The difference gives the least recently used way, even when the counter wraps. */
#ifndef ONPATH_FLOW_STATE_H
#define ONPATH_FLOW_STATE_H

#include "keys.h"
#include "types.h"

#define FLOW_WAYS SET_WAYS
/* Location of a flow: the number of its way. FLOW_WAYS if it has none. FLOW_AGED plus the number if it has aged out, so
 * that it counts as unknown. */
#define FLOW_AGED 16

/* Returns a way's number, which one of many paths computed. In a large program it goes through memory, so that a
 * checker forgets which number it is. The memory is a word of the set, whose lock is held. */
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

/* Returns true if a flow last used at `seen` has aged out. A clock that was read before the lock was taken may be
 * behind. */
INLINE u32 flow_aged(u64 seen, u64 now, u64 idle)
{
    return (s64)(now - seen) > (s64)idle;
}

/* Returns the way that a new flow takes: the first empty one, else the least recently used, whose flow is evicted. */
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

/* Does the same for flows with an idle timeout. Each way has the time of its last use at `seen`. */
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

/* Initialises a way of `size` bytes with a key, and zeros after it. */
INLINE void flow_begin(void *way, u32 size, const u64 *key, u32 words)
{
    u64 *to = way;

#ifdef ONPATH_LARGE
    /* No loop, which a checker would follow on each path. */
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
        /* Otherwise the compiler would call a function. */
        barrier_var(i);
    }
#endif
}

#endif
