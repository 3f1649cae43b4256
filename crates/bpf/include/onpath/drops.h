/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Packets that a traffic manager drops, counted by reason. Each reason has an element of a per-CPU array, which
 * user space sums. */
#ifndef ONPATH_DROPS_H
#define ONPATH_DROPS_H

#include "bpf.h"

/* control::DropReason has the same numbers. */
enum drop_reason {
    DROPPED_CLONE_SESSION = 0,   /* clone session does not exist */
    DROPPED_MULTICAST_GROUP = 1, /* multicast group does not exist */
    DROPPED_ROUNDS = 2,          /* resubmitted, recirculated or cloned too often */
    DROPPED_PORT = 3,            /* port has no interface */
    DROPPED_DROP_PORT = 4,       /* dropped by the program, by port 511 */
    DROPPED_QUEUE = 5,           /* copy for which the kernel had no room */
    DROPPED_CUT = 6,             /* truncation to a length that the kernel refuses */
};

/* Counts a dropped packet, or a dropped copy. */
INLINE void count_drop(void *drops, u32 reason)
{
    u64 *count = bpf_map_lookup_elem(drops, &reason);

    if (count)
        *count += 1;
}

#endif
