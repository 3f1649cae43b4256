// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// What packets are, for a filter.

u8 lives_on(u8 ttl)
{
	return ttl > 1;
}

u8 class_of(u8 protocol, u16 *weight)
{
	*weight = protocol * 3;
	return protocol > 20 ? 2 : 1;
}
