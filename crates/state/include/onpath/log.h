/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Log messages: limited to so many per second that a program which logs each packet stays fast. */
#ifndef ONPATH_LOG_H
#define ONPATH_LOG_H

#include "types.h"

#define LOG_MOST 1000 /* messages per second */

struct log_limit {
    u64 second; /* current second */
    u64 count;  /* messages requested in that second */
    u64 lost;   /* messages lost for lack of room or by the limit; in the second element those reported */
};

/* Returns memory for a record, or null, which is counted, if the limit is exceeded or there is no room. Processors that
 * begin a second at once may let a few more through. */
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
