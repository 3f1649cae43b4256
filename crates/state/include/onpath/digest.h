/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Digests that find no room in their ring buffer. */
#ifndef ONPATH_DIGEST_H
#define ONPATH_DIGEST_H

#include "types.h"

/* Counts a lost digest. */
INLINE void digest_lost(void *lost)
{
    u32 zero = 0;
    u64 *count = map_find(lost, &zero);

    if (count)
        __sync_fetch_and_add(count, 1);
}

#endif
