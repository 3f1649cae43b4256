/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* P4's arithmetic where it differs from C's. Values are bit patterns of `width` bits (1 to 64), zero above
 * them; the width is a constant, so that the compiler drops what does not apply. */
#ifndef ONPATH_ARITH_H
#define ONPATH_ARITH_H

#include "types.h"

INLINE s64 sign_extend(u64 value, u32 width)
{
    return (s64)(value << (64 - width)) >> (64 - width);
}

INLINE u64 low_bits(u32 width)
{
    return width >= 64 ? ~0ull : (1ull << width) - 1;
}

INLINE u64 divide(u64 a, u64 b)
{
    return b ? a / b : 0;
}

INLINE u64 modulo(u64 a, u64 b)
{
    return b ? a % b : 0;
}

INLINE u64 shift_left(u64 value, u64 by, u32 width)
{
    return by >= width ? 0 : value << by;
}

INLINE u64 shift_right(u64 value, u64 by, u32 width)
{
    return by >= width ? 0 : value >> by;
}

INLINE u64 shift_right_signed(u64 value, u64 by, u32 width)
{
    return sign_extend(value, width) >> (by >= width ? width - 1 : by);
}

INLINE u64 sat_add(u64 a, u64 b, u32 width)
{
    u64 sum = a + b;

    return sum < a || sum > low_bits(width) ? low_bits(width) : sum;
}

INLINE u64 sat_sub(u64 a, u64 b, u32 width)
{
    return a < b ? 0 : a - b;
}

/* The largest value if the exact result is positive, else the smallest. */
INLINE u64 sat_limit(int negative, u32 width)
{
    return negative ? 1ull << (width - 1) : low_bits(width - 1);
}

INLINE u64 sat_add_signed(u64 a, u64 b, u32 width)
{
    u64 sum = (a + b) & low_bits(width);
    int sa = sign_extend(a, width) < 0, sb = sign_extend(b, width) < 0, ss = sign_extend(sum, width) < 0;

    return sa == sb && ss != sa ? sat_limit(sa, width) : sum;
}

INLINE u64 sat_sub_signed(u64 a, u64 b, u32 width)
{
    u64 diff = (a - b) & low_bits(width);
    int sa = sign_extend(a, width) < 0, sb = sign_extend(b, width) < 0, sd = sign_extend(diff, width) < 0;

    return sa != sb && sd != sa ? sat_limit(sa, width) : diff;
}

#endif
