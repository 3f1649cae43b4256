/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What a traffic manager loses, counted by reason: an element of a per-CPU array for each, which user space sums. */
#ifndef ONPATH_DROPS_H
#define ONPATH_DROPS_H

#include "bpf.h"

/* control::DropReason has the same numbers. */
enum drop_reason {
    DROPPED_CLONE_SESSION = 0,   /* cloned in a session that there is not */
    DROPPED_MULTICAST_GROUP = 1, /* sent to a group that there is not */
    DROPPED_ROUNDS = 2,          /* went round too often */
    DROPPED_PORT = 3,            /* sent to a port that has no interface */
    DROPPED_DROP_PORT = 4,       /* dropped by the program, by port 511 */
    DROPPED_QUEUE = 5,           /* a copy that the kernel had no room for */
    DROPPED_CUT = 6,             /* to be cut to a length that the kernel does not let it have */
};

/* One more packet, or copy of one, that is lost. */
INLINE void count_drop(void *drops, u32 reason)
{
    u64 *count = bpf_map_lookup_elem(drops, &reason);

    if (count)
        *count += 1;
}

#endif
