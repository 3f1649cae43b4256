/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Messages for a log: so many a second at most, that a program which logs each packet keeps its pace. */
#ifndef ONPATH_LOG_H
#define ONPATH_LOG_H

#include "types.h"

#define LOG_MOST 1000 /* messages in a second */

struct log_limit {
    u64 second; /* which second it was */
    u64 count;  /* how many messages were to be in it */
    u64 lost;   /* how many found no room, or were too many; in the second element how many of these are reported */
};

/* Memory for a record; null if there are too many, which is counted. Processors that begin a second at once may let a few
 * more through. */
INLINE void *log_reserve(void *ring, void *limits, u64 size)
{
    u64 second = now_ns() / 1000000000;
    u32 zero = 0;
    struct log_limit *limit = map_find(limits, &zero);
    void *record = NULL;

    if (!limit)
        return NULL;
    if (limit->second != second) {
        limit->second = second;
        limit->count = 0;
    }
    if (__sync_fetch_and_add(&limit->count, 1) < LOG_MOST)
        record = ring_reserve(ring, size);
    if (!record)
        __sync_fetch_and_add(&limit->lost, 1);
    return record;
}

#endif
