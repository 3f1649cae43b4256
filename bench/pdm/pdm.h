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
enum { ECHO_REQUEST = 128, ECHO_REPLY = 129 };

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
	// The device's MTU; a packet that would be longer with the option goes without.
	__u16 mtu;
	__u32 unused;
};
struct config config SEC(".data.config") = { .mtu = 1500 };

struct key {
	__u64 local[2];
	__u64 remote[2];
	// Local port, remote port, in network order, and the protocol.
	__u64 rest;
};

struct flow {
	struct key key;
	__u64 last_sent;
	__u64 last_received;
	// Nanoseconds from a packet that was sent to the next that was received.
	__u64 dtls;
	// To be sent next; received last; to be received next.
	__u16 next;
	__u16 received_last;
	__u16 expected;
	__u16 heard;
	__u64 sent;
	__u64 received;
	__u64 lost;
	__u64 reordered;
	// Sums and numbers of round trips, their last values in nanoseconds.
	__u64 round_trips;
	__u64 round_trip_sum;
	__u64 server_sum;
	__u64 round_trip;
	__u64 server;
};

enum { WAYS = 8, SETS = 8192 };

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

enum counter { INSERTED, NO_ROOM, NOT_INSERTED, STRIPPED, WITHOUT, CLAMPED, COUNTERS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, COUNTERS);
} counters SEC(".maps");

// Powers of two of nanoseconds: round trip, server, network.
enum histogram { ROUND_TRIP, SERVER, NETWORK, HISTOGRAMS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, HISTOGRAMS * 64);
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
	__u32 index = which * 64 + highest_bit(nanoseconds);
	__u64 *counter = bpf_map_lookup_elem(&histograms, &index);

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

// The way back; a shift of 93 or more is more than a clock of 64 bits can say.
static __always_inline __u64 nanoseconds_of(__u8 scale, __be16 value)
{
	__u64 attoseconds = bpf_ntohs(value);

	if (scale <= 47)
		return (attoseconds << scale) / 1000000000;
	// 10^9 is 2^9 times 1953125: the shift takes over what the division need not do.
	if (scale > 78)
		return ~0ULL;
	return ((attoseconds << 31) / 1000000000) << (scale - 31);
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

// The place of a flow in its set, whose lock is held. One that is new takes the place of the one that was used longest
// ago; its numbers begin at `first`.
static __always_inline struct flow *flow_of(struct set *set, const struct key *key, __u32 tag, __u32 first)
{
	__u32 oldest = 0, age = 0;
	struct flow *flow;
	int way;

	for (way = 0; way < WAYS; way++)
		if (set->tag[way] == tag && equal(&set->flow[way].key, key)) {
			set->used[way] = ++set->clock;
			return &set->flow[way];
		}
	for (way = 0; way < WAYS; way++) {
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
	*flow = (struct flow){ .key = *key, .next = first };
	return flow;
}

static __always_inline int wanted(const struct key *key)
{
	__be16 port = config.port;

	if ((key->remote[0] & config.mask[0]) != config.prefix[0] ||
	    (key->remote[1] & config.mask[1]) != config.prefix[1])
		return 0;
	return !port || (__u16)key->rest == port || (__u16)(key->rest >> 16) == port;
}
