// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// What the program's extern functions do. Values are in the machine's byte order, in the smallest unsigned type
// that holds them, u8 to u64; what is written comes back without the bits that P4's type does not have.

u32 mix(u32 a, u16 b)
{
	return a * 31 + b;
}

void split(u64 value, u32 *high, u16 *low)
{
	*high = value >> 24;
	*low += value;
}

u8 is_odd(u8 value)
{
	return value & 1;
}
