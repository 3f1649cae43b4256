/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Numbers of more than 64 bits: `n` limbs of 64 bits, the least significant first, zero above `width`.
 * Results may not overlap operands. Bits of a result above `width` are the caller's to drop, unless the
 * function takes the width. The counts are constants; loops over limbs unroll. */
#ifndef ONPATH_WIDE_H
#define ONPATH_WIDE_H

#include "arith.h"
#include "types.h"

#define EACH_LIMB _Pragma("clang loop unroll(full)")

INLINE void wide_add(u64 *r, const u64 *a, const u64 *b, u32 n)
{
    u64 carry = 0;

    EACH_LIMB
    for (u32 i = 0; i < n; i++) {
        u64 sum = a[i] + b[i];
        u64 out = sum < a[i];

        r[i] = sum + carry;
        carry = out | (r[i] < sum);
    }
}

INLINE void wide_sub(u64 *r, const u64 *a, const u64 *b, u32 n)
{
    u64 borrow = 0;

    EACH_LIMB
    for (u32 i = 0; i < n; i++) {
        u64 diff = a[i] - b[i];
        u64 out = a[i] < b[i];

        r[i] = diff - borrow;
        borrow = out | (diff < borrow);
    }
}

INLINE void wide_negate(u64 *r, const u64 *a, u32 n)
{
    u64 carry = 1;

    EACH_LIMB
    for (u32 i = 0; i < n; i++) {
        r[i] = ~a[i] + carry;
        carry = carry && r[i] == 0;
    }
}

/* The high half of a product. */
INLINE u64 high_product(u64 a, u64 b)
{
    u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
    u64 middle = ah * bl + (al * bl >> 32);
    u64 other = al * bh + (u32)middle;

    return ah * bh + (middle >> 32) + (other >> 32);
}

INLINE void wide_multiply(u64 *r, const u64 *a, const u64 *b, u32 n)
{
    EACH_LIMB
    for (u32 i = 0; i < n; i++)
        r[i] = 0;
    EACH_LIMB
    for (u32 i = 0; i < n; i++) {
        u64 carry = 0;

        EACH_LIMB
        for (u32 j = 0; j < n - i; j++) {
            u64 low = a[i] * b[j], high = high_product(a[i], b[j]);
            u64 sum = r[i + j] + low;

            high += sum < low;
            sum += carry;
            high += sum < carry;
            r[i + j] = sum;
            carry = high;
        }
    }
}

/* Limb `i` of `a`, or `fill` if there is none. It is a chain of comparisons, since not every target allows variable
 * offsets. Each limb is hidden from the compiler, which would otherwise compute an address from `i` after all. */
INLINE u64 limb_at(const u64 *a, u64 i, u32 n, u64 fill)
{
    u64 value = fill;

    EACH_LIMB
    for (u32 k = 0; k < n; k++) {
        u64 limb = a[k];

        asm volatile("" : "+r"(limb));
        value = i == k ? limb : value;
    }
    return value;
}

INLINE void wide_shift_left(u64 *r, const u64 *a, u64 by, u32 n, u32 width)
{
    u64 skip = by >> 6, bits = by & 63;

    EACH_LIMB
    for (u32 i = 0; i < n; i++) {
        u64 high = limb_at(a, i - skip, n, 0), low = limb_at(a, i - skip - 1, n, 0);

        r[i] = by >= width ? 0 : bits ? high << bits | low >> (64 - bits) : high;
    }
}

INLINE void wide_shift_down(u64 *r, const u64 *a, u64 by, u32 n, u64 fill)
{
    u64 skip = by >> 6, bits = by & 63;

    EACH_LIMB
    for (u32 i = 0; i < n; i++) {
        u64 low = limb_at(a, i + skip, n, fill), high = limb_at(a, i + skip + 1, n, fill);

        r[i] = bits ? low >> bits | high << (64 - bits) : low;
    }
}

INLINE void wide_shift_right(u64 *r, const u64 *a, u64 by, u32 n, u32 width)
{
    wide_shift_down(r, a, by >= width ? width : by, n, 0);
}

INLINE int wide_is_negative(const u64 *a, u32 n, u32 width)
{
    return a[n - 1] >> ((width - 1) & 63) & 1;
}

INLINE void wide_shift_right_signed(u64 *r, const u64 *a, u64 by, u32 n, u32 width)
{
    u64 fill = wide_is_negative(a, n, width) ? ~0ull : 0;
    u64 extended[n];

    EACH_LIMB
    for (u32 i = 0; i < n; i++)
        extended[i] = a[i];
    if (width & 63)
        extended[n - 1] |= fill << (width & 63);
    wide_shift_down(r, extended, by >= width ? width : by, n, fill);
}

INLINE void wide_fill(u64 *r, u64 limb, u64 top, u32 n)
{
    EACH_LIMB
    for (u32 i = 0; i + 1 < n; i++)
        r[i] = limb;
    r[n - 1] = top;
}

/* A mask of the bits of `width` that the last limb holds. */
INLINE u64 top_limb(u32 width)
{
    return width & 63 ? low_bits(width & 63) : ~0ull;
}

INLINE int wide_less(const u64 *a, const u64 *b, u32 n)
{
    int less = 0;

    EACH_LIMB
    for (u32 i = 0; i < n; i++)
        less = a[i] != b[i] ? a[i] < b[i] : less;
    return less;
}

INLINE void wide_sat_add(u64 *r, const u64 *a, const u64 *b, u32 n, u32 width)
{
    wide_add(r, a, b, n);
    if (r[n - 1] > top_limb(width) || wide_less(r, a, n))
        wide_fill(r, ~0ull, top_limb(width), n);
}

INLINE void wide_sat_sub(u64 *r, const u64 *a, const u64 *b, u32 n, u32 width)
{
    if (wide_less(a, b, n))
        wide_fill(r, 0, 0, n);
    else
        wide_sub(r, a, b, n);
}

INLINE void wide_sat_limit(u64 *r, int negative, u32 n, u32 width)
{
    u64 sign = 1ull << ((width - 1) & 63);

    if (negative)
        wide_fill(r, 0, sign, n);
    else
        wide_fill(r, ~0ull, sign - 1, n);
}

INLINE void wide_sat_add_signed(u64 *r, const u64 *a, const u64 *b, u32 n, u32 width)
{
    int sa = wide_is_negative(a, n, width), sb = wide_is_negative(b, n, width);

    wide_add(r, a, b, n);
    if (sa == sb && wide_is_negative(r, n, width) != sa)
        wide_sat_limit(r, sa, n, width);
}

INLINE void wide_sat_sub_signed(u64 *r, const u64 *a, const u64 *b, u32 n, u32 width)
{
    int sa = wide_is_negative(a, n, width), sb = wide_is_negative(b, n, width);

    wide_sub(r, a, b, n);
    if (sa != sb && wide_is_negative(r, n, width) != sa)
        wide_sat_limit(r, sa, n, width);
}

/* Long division, bit by bit. Quotient and remainder are 0 if `b` is 0. Each step selects by masks: with branches, the
 * number of paths would double with each step. */
INLINE void wide_long_division(u64 *quotient, u64 *rest, const u64 *a, const u64 *b, u32 n, u32 width)
{
    u64 value[n], shifted[n], diff[n], zero = 0;

    EACH_LIMB
    for (u32 i = 0; i < n; i++) {
        value[i] = a[i];
        quotient[i] = 0;
        rest[i] = 0;
        zero |= b[i];
    }
    if (!zero)
        return;
    for (u32 step = 0; step < n * 64; step++) {
        u64 carry = value[n - 1] >> 63;
        u64 over = rest[n - 1] >> 63, borrow = 0, take;

        EACH_LIMB
        for (u32 i = n; i-- > 0;) {
            value[i] = value[i] << 1 | (i ? value[i - 1] >> 63 : 0);
            quotient[i] = quotient[i] << 1 | (i ? quotient[i - 1] >> 63 : 0);
            shifted[i] = rest[i] << 1 | (i ? rest[i - 1] >> 63 : carry);
        }
        EACH_LIMB
        for (u32 i = 0; i < n; i++) {
            diff[i] = shifted[i] - b[i] - borrow;
            asm volatile("" : "+r"(diff[i]));
            borrow = ((~shifted[i] & b[i]) | ((~shifted[i] | b[i]) & diff[i])) >> 63;
        }
        take = over | (borrow ^ 1);
        asm volatile("" : "+r"(take));
        EACH_LIMB
        for (u32 i = 0; i < n; i++)
            rest[i] = (diff[i] & -take) | (shifted[i] & ~-take);
        quotient[0] |= take;
    }
}

INLINE void wide_divide(u64 *r, const u64 *a, const u64 *b, u32 n, u32 width)
{
    u64 rest[n];

    wide_long_division(r, rest, a, b, n, width);
}

INLINE void wide_modulo(u64 *r, const u64 *a, const u64 *b, u32 n, u32 width)
{
    u64 quotient[n];

    wide_long_division(quotient, r, a, b, n, width);
}

#endif
