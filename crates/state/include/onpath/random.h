/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Random numbers of other sizes than the target's. */
#ifndef ONPATH_RANDOM_H
#define ONPATH_RANDOM_H

#include "types.h"

/* Returns 64 random bits. The number drawn first is the upper half. */
INLINE u64 random_u64(void)
{
    u64 high = random_u32();

    return high << 32 | random_u32();
}

/* Returns a random number below a span. A span of 0 means all 64-bit numbers. */
INLINE u64 random_below(u64 span)
{
    u64 number = random_u64();

    return span ? number % span : number;
}

#endif
