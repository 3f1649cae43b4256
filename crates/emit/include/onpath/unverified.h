/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Primitives of targets that run compiled code as it is, without a check before. */
#ifndef ONPATH_UNVERIFIED_H
#define ONPATH_UNVERIFIED_H

#include "types.h"

#define barrier_var(number) ((void)0)
#define forget_bounds(number) ((void)0)
#define forget_wide_bounds(number) ((void)0)
#define forget_constant(number, unknown) ((void)0)
#define paths_meet() ((void)0)
#define masked_by(number, mask) ((u64)(number) & (mask))

/* The value 0, computed from `number`: a load from an address that contains it happens after `number` is known. */
INLINE u64 zero_after(u64 number)
{
    u64 zero = number;

    asm volatile("" : "+r"(zero));
    return zero ^ number;
}

#define goto_if_short(end, data_end, label) \
    do {                                    \
        if ((end) > (data_end))             \
            goto label;                     \
    } while (0)

#define run_turns(count, turn, with)                                      \
    do {                                                                  \
        for (u32 i_ = 0, all_ = (count); i_ < all_ && !(turn)(i_, with);) \
            i_++;                                                         \
    } while (0)

#endif
