// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// The hash of keys that packets insert (onpath/keys.h), and the function that was in its place before: by the number of
// words of a key. A packet has its key from byte 16 on. The hash becomes the key's first word, so that the next packet's
// waits for it, as a look-up would.
#include "onpath/memory.h"

#include "onpath/keys.h"

struct xdp_md {
	u32 data, data_end;
};

static inline __attribute__((always_inline)) u64 former_round(u64 hash, u64 word, u64 factor)
{
	hash ^= word;
	hash ^= hash >> 32;
	return hash * factor;
}

// Products by factors that depend on a seed of 64 bits. Differences in the highest bits of two words can cancel under every
// seed.
static inline __attribute__((always_inline)) u64 former_hash(const u64 *word, u32 words)
{
	u64 seed = hash_seeds.buckets;
	u64 a = 0x9e3779b97f4a7c15 ^ seed, factor_a = 0xbf58476d1ce4e5b9 ^ seed << 1;
	u64 b = 0xd6e8feb86659fd93 + seed, factor_b = 0x94d049bb133111eb + (seed << 1);

#pragma unroll
	for (u32 i = 0; i < words; i++)
		if (i % 2 == 0)
			a = former_round(a, word[i], factor_a);
		else
			b = former_round(b, word[i], factor_b);
	a = former_round(a, b >> 29 | b << 35, factor_b);
	a ^= a >> 32;
	a *= 0xff51afd7ed558ccd;
	return a ^ a >> 32;
}

// The baseline: what reads and writes the key, and no hash.
static inline __attribute__((always_inline)) u64 no_hash(const u64 *word, u32 words)
{
	u64 sum = 1;

#pragma unroll
	for (u32 i = 0; i < words; i++)
		sum += word[i];
	return sum;
}

#define PROGRAM(name, hash, words)                                                                           \
	SEC("xdp") int name##_##words(struct xdp_md *ctx)                                                    \
	{                                                                                                    \
		u8 *packet = (u8 *)(long)ctx->data;                                                          \
		any64 *at = (any64 *)(packet + 16);                                                          \
		u64 key[words];                                                                              \
                                                                                                             \
		if (packet + 16 + 8 * words > (u8 *)(long)ctx->data_end)                                     \
			return 0;                                                                            \
		for (u32 i = 0; i < words; i++)                                                              \
			key[i] = at[i];                                                                      \
		at[0] = hash(key, words);                                                                    \
		return 2;                                                                                    \
	}

#define PROGRAMS(words)                                                                                      \
	PROGRAM(none, no_hash, words)                                                                        \
	PROGRAM(former, former_hash, words)                                                                  \
	PROGRAM(keyed, key_hash, words)

PROGRAMS(1)
PROGRAMS(2)
PROGRAMS(3)
PROGRAMS(5)

char _license[] SEC("license") = "Dual BSD/GPL";
