/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Metrics by group. Each processor has its own sets of eight groups, in memory that readers map. A reader sees every
 * word whole. A group's tag is set after its key. While one group replaces another, the set's `changes` is odd. Both
 * are set by atomic operations, across which writes are not reordered. */
#ifndef ONPATH_METRICS_H
#define ONPATH_METRICS_H

#include "keys.h"
#include "types.h"

/* Head of a set. The ways follow. */
struct metric_set {
    u32 changes;
    u32 unused;
    u64 lost; /* number of updates whose group found no free way */
    u32 tag[SET_WAYS];
};

struct tally_metric {
    u64 count;
    u64 sum;
    u64 least;
    u64 greatest;
};

struct top_metric {
    u64 weight;
    u64 error;
};

/* Returns the index of a key's set on this processor, which has `sets` of them. */
INLINE u32 metric_set_of(u64 hash, u32 sets)
{
    return this_processor() * sets + ((u32)hash & (sets - 1));
}

/* Assigns an empty way to a key. */
INLINE void metric_begin(struct metric_set *set, u32 at, void *way, u32 tag, const u64 *key, u32 words)
{
    u64 *own = way;

#pragma unroll
    for (u32 i = 0; i < words; i++)
        own[i] = key[i];
    __sync_fetch_and_or(&set->tag[at], tag);
}

/* Returns the way of a key, or an empty way if it has none. SET_WAYS if no way is free. Ways are `size` bytes apart. */
INLINE u32 metric_way(struct metric_set *set, void *ways, u32 size, u32 tag, const u64 *key, u32 words)
{
    u32 at = way_find(set->tag, tag, ways, size, key, words);

    if (at < SET_WAYS)
        return at;
#pragma unroll
    for (at = 0; at < SET_WAYS; at++) {
        if (set->tag[at])
            continue;
        metric_begin(set, at, (u8 *)ways + at * size, tag, key, words);
        return at;
    }
    return SET_WAYS;
}

INLINE void tally_add(struct tally_metric *tally, u64 value)
{
    if (!tally->count || value < tally->least)
        tally->least = value;
    if (value > tally->greatest)
        tally->greatest = value;
    tally->sum += value;
    tally->count++;
}

/* Returns the index of the highest bit set in a number other than 0. */
INLINE u32 highest_bit(u64 number)
{
    u32 bit = 0;

#pragma unroll
    for (u32 half = 32; half; half /= 2)
        if (number >> half) {
            number >>= half;
            bit += half;
        }
    return bit;
}

#define HISTOGRAM_BITS 3 /* values that agree in this many bits after their highest one share a count */
#define HISTOGRAM_COUNTS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

INLINE void histogram_add(u64 *counts, u64 value)
{
    u32 at = value, shift;

    if (value >> HISTOGRAM_BITS) {
        shift = highest_bit(value) - HISTOGRAM_BITS;
        at = (shift << HISTOGRAM_BITS) + (value >> shift);
    }
    barrier_var(at);
    if (at < HISTOGRAM_COUNTS)
        counts[at]++;
}

/* HyperLogLog with 2^precision registers. The hash's upper bits choose a register. The register keeps the greatest
 * position of the highest bit set in the other bits, counted from 1. A bit after the last one ends the search. */
INLINE void distinct_add(u8 *registers, u32 precision, u64 hash)
{
    u32 at = hash >> (64 - precision), place;

    place = 64 - highest_bit(hash << precision | 1ull << (precision - 1));
    barrier_var(at);
    at &= (1u << precision) - 1;
    if (place > registers[at])
        registers[at] = place;
}

INLINE u64 saturated_sum(u64 left, u64 right)
{
    u64 sum = left + right;

    return sum < left ? ~0ull : sum;
}

/* Space-Saving in a set: adds to the weight of a key, which may replace the key with the least weight. The metric
 * follows a way's key. */
INLINE void top_add(struct metric_set *set, void *ways, u32 size, u32 tag, const u64 *key, u32 words, u64 weight)
{
    u32 at = way_find(set->tag, tag, ways, size, key, words), least = 0;
    u64 smallest = ~0ull;
    struct top_metric *metric;

    if (!weight)
        return;
    if (at >= SET_WAYS) {
#pragma unroll
        for (at = 0; at < SET_WAYS; at++) {
            metric = (void *)((u8 *)ways + at * size + 8 * words);
            if (!set->tag[at]) {
                metric->weight = weight;
                metric_begin(set, at, (u8 *)ways + at * size, tag, key, words);
                return;
            }
            if (metric->weight < smallest) {
                smallest = metric->weight;
                least = at;
            }
        }
        barrier_var(least);
        least &= SET_WAYS - 1;
        __sync_fetch_and_add(&set->changes, 1);
        set->tag[least] = 0;
        metric = (void *)((u8 *)ways + least * size + 8 * words);
        metric->error = smallest;
        metric->weight = saturated_sum(smallest, weight);
        metric_begin(set, least, (u8 *)ways + least * size, tag, key, words);
        __sync_fetch_and_add(&set->changes, 1);
        return;
    }
    barrier_var(at);
    at &= SET_WAYS - 1;
    metric = (void *)((u8 *)ways + at * size + 8 * words);
    metric->weight = saturated_sum(metric->weight, weight);
}

#endif
