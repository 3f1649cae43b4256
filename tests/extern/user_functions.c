// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// What the program's extern functions do. Values are in the machine's byte order, in the smallest unsigned type
// that holds them; what is written comes back without the bits that P4's type does not have.

__u32 mix(__u32 a, __u16 b)
{
	return a * 31 + b;
}

void split(__u64 value, __u32 *high, __u16 *low)
{
	*high = value >> 24;
	*low += value;
}

__u8 is_odd(__u8 value)
{
	return value & 1;
}
