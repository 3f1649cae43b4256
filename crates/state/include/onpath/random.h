/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Random numbers of other sizes than the target draws them. */
#ifndef ONPATH_RANDOM_H
#define ONPATH_RANDOM_H

#include "types.h"

/* 64 random bits, the number that is drawn first above the other. */
INLINE u64 random_u64(void)
{
    u64 high = random_u32();

    return high << 32 | random_u32();
}

/* A random number below a span, which is all numbers if it is 0. */
INLINE u64 random_below(u64 span)
{
    u64 number = random_u64();

    return span ? number % span : number;
}

#endif
