/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Per-flow state: an eight-way set-associative table. A key belongs to one set, whose lock is held while its flows
 * change. Each set has an LRU counter, which each use advances, and each way keeps the counter's value at its last
 * use. The difference gives the least recently used way, even when the counter wraps.
 *
 * A set counts the changes of keys and values: its count is odd during one. A packet that only looks a flow up reads
 * the count before and after, and takes the lock if it changed. A way is emptied by its tag alone, which is no such
 * change: its key and value stay until another flow takes the way. The target defines `ordered_memory`: whether
 * processors see each other's loads and stores in the order of the program. If they do not, look-ups take the lock. */
#ifndef ONPATH_FLOW_STATE_H
#define ONPATH_FLOW_STATE_H

#include "keys.h"
#include "types.h"

#define FLOW_WAYS SET_WAYS
/* Location of a flow: the number of its way. FLOW_WAYS if it has none. FLOW_AGED plus the number if it has aged out, so
 * that it counts as unknown. */
#define FLOW_AGED 16

/* Keeps the compiler from moving loads and stores from one side to the other. */
#define flow_order() asm volatile("" ::: "memory")

/* Returns the count of a set's changes, for flow_unchanged(). Odd if the reader has to take the lock. */
INLINE u64 flow_changes(const u32 *changes)
{
    u64 count = 1;

    if (ordered_memory)
        count = *(const volatile u32 *)changes;
    flow_order();
    return count;
}

/* Returns true if what was read since is of one state of the set. */
INLINE u32 flow_unchanged(const u32 *changes, u64 before)
{
    flow_order();
    return *(const volatile u32 *)changes == before;
}

/* Begins or ends a change. */
INLINE void flow_change(u32 *changes)
{
    flow_order();
    *(volatile u32 *)changes += 1;
    flow_order();
}

/* Returns a way's number, which one of many paths computed. In a large program it goes through memory, so that a
 * checker forgets which number it is. The memory is the spare word of the key's hash. */
INLINE u32 flow_forget(u64 *kept, u32 way)
{
#ifdef ONPATH_LARGE
    volatile u64 *borrowed = kept + 1;

    *borrowed = way;
    way = *borrowed;
    paths_meet();
#else
    (void)kept;
#endif
    return way;
}

INLINE u32 flow_find(u64 *kept, const u32 *tags, u32 tag, const void *ways, u32 size, const u64 *key, u32 words)
{
    return flow_forget(kept, way_find(tags, tag, ways, size, key, words));
}

/* Counts a use of a way, unless it is the most recently used one. Packets that take no lock may do so meanwhile. */
INLINE void flow_used(u32 *lru, u32 *used)
{
    if (*used != *lru)
        *used = __sync_fetch_and_add(lru, 1) + 1;
}

/* Sets the time of a flow's last use. The clock is coarse, so that it is mostly set already. */
INLINE void flow_seen(u64 *seen, u64 now)
{
    if (*seen != now)
        *seen = now;
}

/* Returns true if a flow last used at `seen` has aged out. A clock that was read before the lock was taken may be
 * behind. */
INLINE u32 flow_aged(u64 seen, u64 now, u64 idle)
{
    return (s64)(now - seen) > (s64)idle;
}

/* Added to the age of each use, so that none is negative: packets that take no lock may count some meanwhile. */
#define FLOW_MEANWHILE 0x10000

/* Returns the way that a new flow takes: the first empty one, else the least recently used, whose flow is evicted. */
INLINE u32 flow_oldest(const u32 *tags, const u32 *used, u32 lru, u64 *evicted)
{
    u32 oldest = 0, age = 0;

    lru += FLOW_MEANWHILE;
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

INLINE u32 flow_victim(u64 *kept, const u32 *tags, const u32 *used, u32 lru, u64 *evicted)
{
    return flow_forget(kept, flow_oldest(tags, used, lru, evicted));
}

/* Does the same for flows with an idle timeout. Each way has the time of its last use at `seen`. */
INLINE u32 flow_oldest_aged(const u32 *tags, const u32 *used, u32 lru, u64 *evicted, const void *seen, u32 size,
                            u64 now, u64 idle)
{
    u32 oldest = 0, age = 0;

    lru += FLOW_MEANWHILE;
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

INLINE u32 flow_victim_aged(u64 *kept, const u32 *tags, const u32 *used, u32 lru, u64 *evicted, const void *seen,
                            u32 size, u64 now, u64 idle)
{
    return flow_forget(kept, flow_oldest_aged(tags, used, lru, evicted, seen, size, now, idle));
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
