// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// What the two hand-written programs of Performance and Diagnostic Metrics (RFC 8250) share: places in the
// packet, the state of a flow, counters, and the option's time format.
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

// Offsets from the Ethernet header of a packet without VLAN tags.
enum {
	TYPE = 12,
	PAYLOAD_LENGTH = 18,
	NEXT_HEADER = 20,
	SOURCE = 22,
	DESTINATION = 38,
	TRANSPORT = 54,
	// What the shortest packet of interest has: ports, or type and code.
	SHORTEST = TRANSPORT + 8,
};

enum { TCP = 6, UDP = 17, DESTINATION_OPTIONS = 60, ICMPV6 = 58 };

// Every link carries this much.
enum { LEAST_MTU = 1280 };

#define TYPE_IPV6 bpf_htons(0x86dd)

// The Destination Options header with the option and its padding (RFC 8250, section 3).
struct pdm {
	__u8 next_header;
	__u8 length;
	__u8 type;
	__u8 option_length;
	__u8 scale_dtlr;
	__u8 scale_dtls;
	__be16 psntp;
	__be16 psnlr;
	__be16 dtlr;
	__be16 dtls;
	__u8 padding[2];
};

enum { PDM_BYTES = sizeof(struct pdm), PDM_TYPE = 0x0f, PDM_LENGTH = 10, PADN = 1 };

// GSO packets keep their segments' size: MSS was clamped, so there is room, and what came in stays what it was.
// Checksums that are known to be right stay so.
#define ROOM_FLAGS (BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET)

// On to the next program, or the stack.
enum { NEXT = -1 };

// Filled in by who loads the programs.
struct config {
	// Packets whose remote address, under the mask, is this.
	__u64 prefix[2];
	__u64 mask[2];
	// A port on either side, in network order; 0 is any.
	__be16 port;
	// Whether a TCP packet that offload will take apart gets one option for all its segments, or goes without.
	__u8 once;
	// Whether options stay where they are.
	__u8 leave;
	__u32 unused;
};
struct config config SEC(".data.config") = { .once = 0 };

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
	__u16 unused;
	__u64 window;
	__u64 expected;
	__u64 received;
	__u64 sent;
	__u32 reordered;
	__u32 duplicates;
	__u64 first_seen;
	__u64 samples;
	struct delay round_trip;
	struct delay server;
	struct delay network;
};

// What routers told of paths, by the remote address.
struct path {
	__u64 remote[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct path);
	__type(value, __u32);
	__uint(max_entries, 1024);
} paths SEC(".maps");

enum { WAYS = 8, SETS = 8192 };

// A flow that was silent for ten minutes is gone.
#define IDLE 600000000000LL

struct set {
	struct bpf_spin_lock lock;
	__u32 clock;
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

enum counter {
	MARKED, NOT_IPV6, OTHER_PROTOCOL, CONTROL, UNFILTERED, OFFLOADED, NO_ROOM_ON_LINK, NO_ROOM_ON_PATH, NOT_MARKED,
	CLAMPED, READ, WITHOUT, REMOVED, TOO_BIG, COUNTERS
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, COUNTERS);
} counters SEC(".maps");

// Samples by delay, four buckets to the octave.
enum histogram { ROUND_TRIP, SERVER, NETWORK, HISTOGRAMS };
enum { BUCKETS = 160 };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, HISTOGRAMS * BUCKETS);
} histograms SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		*counter += 1;
}

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

static __always_inline __u64 hash_of(const struct key *key)
{
	__u64 hash = key->rest;

	hash = (hash ^ key->local[0]) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 32;
	hash = (hash ^ key->local[1]) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 32;
	hash = (hash ^ key->remote[0]) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 32;
	hash = (hash ^ key->remote[1]) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static __always_inline int equal(const struct key *a, const struct key *b)
{
	return a->remote[1] == b->remote[1] && a->rest == b->rest && a->remote[0] == b->remote[0] &&
	       a->local[0] == b->local[0] && a->local[1] == b->local[1];
}

// The place for a flow that is new: of the one that was used longest ago. Rare, and so apart.
static __noinline struct flow *new_flow(struct set *set, const struct key *key, __u32 tag, __u64 now)
{
	__u32 oldest = 0, age = 0;
	struct flow *flow;

	for (int way = 0; way < WAYS; way++) {
		__u32 since = set->tag[way] ? set->clock - set->used[way] : ~0U;

		if (since >= age) {
			age = since;
			oldest = way;
		}
	}
	oldest &= WAYS - 1;
	flow = &set->flow[oldest];
	set->tag[oldest] = tag;
	set->used[oldest] = ++set->clock;
	*flow = (struct flow){ .key = *key, .seen = now };
	return flow;
}

// The place of a flow in its set, whose lock is held.
static __always_inline struct flow *flow_of(struct set *set, const struct key *key, __u32 tag, __u64 now)
{
#pragma unroll 1
	for (int way = 0; way < WAYS; way++)
		if (set->tag[way] == tag && equal(&set->flow[way].key, key)) {
			struct flow *flow = &set->flow[way];

			// One that is too old is a new one in the same place.
			if ((__s64)(now - flow->seen) > IDLE)
				*flow = (struct flow){ .key = *key };
			set->used[way] = ++set->clock;
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

// The MTU that a router told of, if it is less.
static __always_inline __u32 path_mtu(const struct key *key, __u32 mtu)
{
	struct path path = { { key->remote[0], key->remote[1] } };
	__u32 *told = bpf_map_lookup_elem(&paths, &path);

	return told && *told < mtu ? *told : mtu;
}

enum { TCP_OFFSET = 12, TCP_FLAGS = 13, TCP_CHECKSUM = 16, TCP_BYTES = 20, SYN = 2 };
enum { OPTION_END = 0, OPTION_NOTHING = 1, OPTION_MSS = 2, OPTION_MSS_BYTES = 4 };

// Makes a SYN's MSS small enough for the option. TCP's options are at most 40 bytes.
static __noinline int clamp_mss(struct __sk_buff *skb, __u32 tcp, __u32 mtu)
{
	__u16 most = mtu - 60 - PDM_BYTES;
	__u32 at = tcp + TCP_BYTES, end;
	__u8 offset;

	if (bpf_skb_load_bytes(skb, tcp + TCP_OFFSET, &offset, 1))
		return 0;
	end = tcp + (offset >> 4) * 4;
	for (int options = 0; options < 40 && at + OPTION_MSS_BYTES <= end; options++) {
		__u8 kind[2];
		__be16 old, new = bpf_htons(most);

		if (bpf_skb_load_bytes(skb, at, kind, 2) || kind[0] == OPTION_END)
			return 0;
		if (kind[0] == OPTION_NOTHING) {
			at++;
			continue;
		}
		if (kind[0] != OPTION_MSS) {
			if (kind[1] < 2)
				return 0;
			at += kind[1];
			continue;
		}
		if (bpf_skb_load_bytes(skb, at + 2, &old, 2) || bpf_ntohs(old) <= most)
			return 0;
		// At an odd place its halves are in the other halves of the checksum's words.
		if (at & 1)
			bpf_l4_csum_replace(skb, tcp + TCP_CHECKSUM, __builtin_bswap16(old), __builtin_bswap16(new), 2);
		else
			bpf_l4_csum_replace(skb, tcp + TCP_CHECKSUM, old, new, 2);
		bpf_skb_store_bytes(skb, at + 2, &new, 2, 0);
		count(CLAMPED);
		return 0;
	}
	return 0;
}

// Neighbour discovery and multicast listeners.
static __always_inline int is_control(__u8 type)
{
	return (type >= 130 && type <= 137) || type == 143;
}
