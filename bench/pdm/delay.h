// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Delays: the option's format for them, and histograms.
#pragma once

#include "pdm.h"

// Samples by delay, four buckets to the octave.
enum histogram { ROUND_TRIP, SERVER, NETWORK, HISTOGRAMS };
enum { BUCKETS = 160 };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, HISTOGRAMS * BUCKETS);
} histograms SEC(".maps");

// The number of the highest bit that is set; 0 for 0 and 1.
static __always_inline __u32 highest_bit(__u64 value)
{
	__u32 bit = 0;

	if (value >> 32) { bit += 32; value >>= 32; }
	if (value >> 16) { bit += 16; value >>= 16; }
	if (value >> 8) { bit += 8; value >>= 8; }
	if (value >> 4) { bit += 4; value >>= 4; }
	if (value >> 2) { bit += 2; value >>= 2; }
	return bit + (value >> 1 & 1);
}

static __always_inline void tally(enum histogram which, __u64 nanoseconds)
{
	__u32 bucket = nanoseconds, bit;
	__u64 *counter;

	if (nanoseconds >= 8) {
		bit = highest_bit(nanoseconds);
		bucket = (bit - 2) * 4 + (nanoseconds >> (bit - 2));
		if (bucket >= BUCKETS)
			bucket = BUCKETS - 1;
	}
	bucket += which * BUCKETS;
	counter = bpf_map_lookup_elem(&histograms, &bucket);
	if (counter)
		*counter += 1;
}

// Nanoseconds as the option has them: attoseconds, shifted right until 16 bits hold them.
struct scaled {
	__u8 scale;
	__be16 value;
};

static __always_inline struct scaled scaled(__u64 nanoseconds)
{
	__u32 scale = 0, bit;
	__u64 attoseconds;

	// Below 2^34 ns the product fits into 64 bits; the bits lost above are far below the 16 that are kept.
	if (nanoseconds >> 34) {
		scale = highest_bit(nanoseconds) - 33;
		nanoseconds >>= scale;
	}
	attoseconds = nanoseconds * 1000000000;
	bit = highest_bit(attoseconds);
	if (bit > 15) {
		scale += bit - 15;
		attoseconds >>= bit - 15;
	}
	return (struct scaled){ scale, bpf_htons(attoseconds) };
}

// The nearest nanosecond: an attosecond is 2^-30 * (2^30 / 10^9) of one, the factor being 4611686018 / 2^32.
static __always_inline __u64 nanoseconds_of(__u8 scale, __be16 value)
{
	__u64 product = bpf_ntohs(value) * 4611686018ULL;

	if (scale <= 61)
		return ((product >> (61 - scale)) + 1) >> 1;
	if (scale <= 76)
		return product << (scale - 62);
	return value ? ~0ULL : 0;
}
