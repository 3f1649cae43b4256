// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// The size that a packet may have on its path: MTUs, and TCP's maximum segment size made to fit them.
#pragma once

#include "flows.h"

// The verifier checks functions that are not static once, and not again at each call.

// Path MTUs that routers reported, by the remote address.
struct path {
	__u64 remote[2];
};

struct path_mtu {
	// Nanoseconds of the monotonic clock at the last use.
	__u64 seen;
	__u32 mtu;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct path);
	__type(value, struct path_mtu);
	__uint(max_entries, 1024);
} paths SEC(".maps");

static __always_inline __u32 link_mtu(struct __sk_buff *skb)
{
	__u32 mtu = 0;

	bpf_check_mtu(skb, 0, &mtu, 0, 0);
	return mtu && mtu <= MOST_ROOM ? mtu : MOST_ROOM;
}

// The MTU that a router reported, if it is less.
static __always_inline __u32 path_mtu(const struct key *key, __u32 mtu)
{
	struct path path = { { key->remote[0], key->remote[1] } };
	struct path_mtu *known = bpf_map_lookup_elem(&paths, &path);
	__u64 now;

	if (!known)
		return mtu;
	now = bpf_ktime_get_coarse_ns();
	if ((__s64)(now - known->seen) > IDLE)
		return mtu;
	known->seen = now;
	return known->mtu < mtu ? known->mtu : mtu;
}

// A router reported a narrow path, with the beginning of our packet that was too big. A report may not raise a known MTU.
__noinline int too_big(struct __sk_buff *skb)
{
	struct path_mtu *known, fresh = {};
	__u64 own[2], source[2];
	struct path path;
	__be32 mtu;

	if (bpf_skb_load_bytes(skb, TRANSPORT + 4, &mtu, 4) ||
	    bpf_skb_load_bytes(skb, TRANSPORT + 8 + 24, &path, sizeof(path)) ||
	    bpf_skb_load_bytes(skb, TRANSPORT + 8 + 8, source, sizeof(source)) ||
	    bpf_skb_load_bytes(skb, DESTINATION, own, sizeof(own)) || source[0] != own[0] || source[1] != own[1])
		return 0;
	fresh.mtu = bpf_ntohl(mtu) < LEAST_MTU ? LEAST_MTU : bpf_ntohl(mtu);
	fresh.seen = bpf_ktime_get_coarse_ns();
	known = bpf_map_lookup_elem(&paths, &path);
	if (!known || (__s64)(fresh.seen - known->seen) > IDLE || fresh.mtu < known->mtu)
		bpf_map_update_elem(&paths, &path, &fresh, BPF_ANY);
	else
		known->seen = fresh.seen;
	count(TOO_BIG);
	return 0;
}

enum { OPTION_END = 0, OPTION_NOTHING = 1, OPTION_MSS = 2, OPTION_AUTHENTICATION = 29 };

// Around a segment are 40 bytes of IPv6 and 20 of TCP. No path needs it to be shorter than LEAST_SEGMENT.
enum { OPTION_MSS_BYTES = 4, AROUND = 60, LEAST_SEGMENT = LEAST_MTU - AROUND - PDM_BYTES };

// Subtracts the option's size from the segment size that an incoming SYN announces: what this host sends back has the
// option. TCP's options are at most 40 bytes; where they are signed they stay as they are.
static __always_inline int clamp(struct __sk_buff *skb, __u32 tcp, __u32 mtu)
{
	__u32 at = tcp + TCP_BYTES, end, most = mtu - AROUND;
	__u8 offset;

	if (mtu < LEAST_MTU || bpf_skb_load_bytes(skb, tcp + TCP_OFFSET, &offset, 1))
		return 0;
	end = tcp + (offset >> 4) * 4;
	for (int options = 0; options < 40 && at + OPTION_MSS_BYTES <= end; options++) {
		__u8 kind[2];
		__be16 old, new;
		__u32 size;

		if (bpf_skb_load_bytes(skb, at, kind, 2) || kind[0] == OPTION_END || kind[0] == OPTION_AUTHENTICATION)
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
		if (kind[1] != OPTION_MSS_BYTES || bpf_skb_load_bytes(skb, at + 2, &old, 2) ||
		    bpf_ntohs(old) <= LEAST_SEGMENT)
			return 0;
		size = (most < bpf_ntohs(old) ? most : bpf_ntohs(old)) - PDM_BYTES;
		new = bpf_htons(size < LEAST_SEGMENT ? LEAST_SEGMENT : size);
		// At an odd offset its halves are in the other halves of the checksum's words.
		if ((at - tcp) & 1)
			bpf_l4_csum_replace(skb, tcp + TCP_CHECKSUM, __builtin_bswap16(old), __builtin_bswap16(new), 2);
		else
			bpf_l4_csum_replace(skb, tcp + TCP_CHECKSUM, old, new, 2);
		bpf_skb_store_bytes(skb, at + 2, &new, 2, 0);
		count(CLAMPED);
		return 0;
	}
	return 0;
}

// The same for the flows that are measured.
__noinline int clamp_coming(struct __sk_buff *skb, __u32 tcp)
{
	struct key key = {};
	__be16 ports[2];

	if (bpf_skb_load_bytes(skb, SOURCE, key.remote, sizeof(key.remote)) || bpf_skb_load_bytes(skb, tcp, ports, 4))
		return 0;
	key.rest = ports[0] | (__u64)ports[1] << 16;
	return wanted(&key) ? clamp(skb, tcp, path_mtu(&key, link_mtu(skb))) : 0;
}
