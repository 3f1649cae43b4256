// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// The state of a flow, and where it is: sets of eight, chosen by a hash, each under a lock.
#pragma once

#include "pdm.h"

struct key {
	__u64 local[2];
	__u64 remote[2];
	// Local port, remote port, in network order, and the protocol.
	__u64 rest;
};

struct delay {
	__u64 last, least, most, sum;
};

// Nanoseconds of the monotonic clock; the meaning of each is that of the P4 program's.
struct flow {
	struct key key;
	__u64 seen;
	__u64 time_sent;
	__u64 time_received;
	__u64 last_sent_delta;
	__u16 psn_next;
	__u16 psn_received;
	__u16 psn_highest;
	// The number behind the last one that was too far behind to be late.
	__u16 psn_far;
	__u64 window;
	__u64 expected;
	__u64 received;
	__u64 sent;
	__u32 reordered;
	__u32 duplicates;
	// Whether the last packet reported a delay since one sent.
	__u64 reported;
	__u64 first_seen;
	__u64 samples;
	struct delay round_trip;
	struct delay server;
	struct delay network;
};

enum { WAYS = 8, SETS = 8192 };

// Nanoseconds: a flow that was silent for ten minutes is gone, and so is what is known of a path.
#define IDLE 600000000000LL

struct set {
	struct bpf_spin_lock lock;
	__u32 lru;
	__u32 tag[WAYS];
	__u32 used[WAYS];
	struct flow flow[WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct set);
	__uint(max_entries, SETS);
} flows SEC(".maps");

#ifdef WEAKER_HASH

static __always_inline __u64 product(__u64 word, __u64 own)
{
	return (__u64)((__u32)word + (__u32)own) * ((__u32)(word >> 32) + (__u32)(own >> 32));
}

// A sum of products (NH, as in UMAC, RFC 4418): without the seed equal hashes of two keys are a matter of luck, and the
// processor takes all products at once. Whoever observes which flows evict each other learns about the seed.
static __always_inline __u64 hash_of(const struct key *key)
{
	__u64 hash = product(key->rest, seed[0]) + product(key->local[0], seed[1]) + product(key->local[1], seed[2]) +
		     product(key->remote[0], seed[3]) + product(key->remote[1], seed[4]);

	hash ^= hash >> 32;
	hash *= 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

#else

#define ROTATE(word, bits) ((word) << (bits) | (word) >> (64 - (bits)))

struct sip {
	__u64 a, b, c, d;
};

static __always_inline struct sip sip_round(struct sip s)
{
	s.a += s.b;
	s.b = ROTATE(s.b, 13) ^ s.a;
	s.a = ROTATE(s.a, 32);
	s.c += s.d;
	s.d = ROTATE(s.d, 16) ^ s.c;
	s.a += s.d;
	s.d = ROTATE(s.d, 21) ^ s.a;
	s.c += s.b;
	s.b = ROTATE(s.b, 17) ^ s.c;
	s.c = ROTATE(s.c, 32);
	return s;
}

static __always_inline struct sip sip_word(struct sip s, __u64 word)
{
	s.d ^= word;
	s = sip_round(s);
	s.a ^= word;
	return s;
}

// SipHash-1-3: packets choose keys, and what they observe of others' evictions tells nothing about the seed.
static __always_inline __u64 hash_of(const struct key *key)
{
	struct sip s = { seed[0] ^ 0x736f6d6570736575, seed[1] ^ 0x646f72616e646f6d, seed[0] ^ 0x6c7967656e657261,
			 seed[1] ^ 0x7465646279746573 };

	s = sip_word(s, key->local[0]);
	s = sip_word(s, key->local[1]);
	s = sip_word(s, key->remote[0]);
	s = sip_word(s, key->remote[1]);
	s = sip_word(s, key->rest);
	s = sip_word(s, (__u64)sizeof(*key) << 56);
	s.c ^= 0xff;
	s = sip_round(sip_round(sip_round(s)));
	return s.a ^ s.b ^ s.c ^ s.d;
}

#endif

// Never 0, the tag of an empty slot.
static __always_inline __u32 tag_of(__u64 hash)
{
	__u32 tag = hash >> 32;

	return tag ? tag : 1;
}

static __always_inline int equal(const struct key *a, const struct key *b)
{
	return a->remote[1] == b->remote[1] && a->rest == b->rest && a->remote[0] == b->remote[0] &&
	       a->local[0] == b->local[0] && a->local[1] == b->local[1];
}

// The slot for a new flow: the least recently used one. Rare, so out of line.
static __noinline struct flow *new_flow(struct set *set, const struct key *key, __u32 tag, __u64 now)
{
	__u32 oldest = 0, age = 0;
	struct flow *flow;

	for (int way = 0; way < WAYS; way++) {
		__u32 since = set->tag[way] ? set->lru - set->used[way] : ~0U;

		if (since >= age) {
			age = since;
			oldest = way;
		}
	}
	oldest &= WAYS - 1;
	flow = &set->flow[oldest];
	set->tag[oldest] = tag;
	set->used[oldest] = ++set->lru;
	*flow = (struct flow){ .key = *key, .seen = now };
	return flow;
}

// The slot of a flow in its set, whose lock is held.
static __always_inline struct flow *flow_of(struct set *set, const struct key *key, __u32 tag, __u64 now)
{
#pragma unroll 1
	for (int way = 0; way < WAYS; way++)
		if (set->tag[way] == tag && equal(&set->flow[way].key, key)) {
			struct flow *flow = &set->flow[way];

			// One that is too old is a new one in the same slot.
			if ((__s64)(now - flow->seen) > IDLE)
				*flow = (struct flow){ .key = *key };
			set->used[way] = ++set->lru;
			flow->seen = now;
			return flow;
		}
	return new_flow(set, key, tag, now);
}

static __always_inline int wanted(const struct key *key)
{
	__be16 port = config.port;

	if ((key->remote[0] & config.mask[0]) != config.prefix[0] ||
	    (key->remote[1] & config.mask[1]) != config.prefix[1])
		return 0;
	return !port || (__u16)key->rest == port || (__u16)(key->rest >> 16) == port;
}
