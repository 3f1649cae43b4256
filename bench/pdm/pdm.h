// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// What the two hand-written programs of Performance and Diagnostic Metrics (RFC 8250) share: offsets in the
// packet, what user space chooses, and counters.
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

enum { TCP_OFFSET = 12, TCP_FLAGS = 13, TCP_CHECKSUM = 16, TCP_BYTES = 20, SYN = 2 };

enum { TCP = 6, UDP = 17, DESTINATION_OPTIONS = 60, ICMPV6 = 58 };

// Every link carries LEAST_MTU. In packets longer than MOST_ROOM, except those to be segmented, the kernel
// makes no headroom.
enum { LEAST_MTU = 1280, MOST_ROOM = 16000 };

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

// A packet to be segmented gets segments that are shorter by as much; what came in keeps its segments' size.
// Checksums that are known to be right stay so: the option is in none.
#define MAKE_ROOM BPF_F_ADJ_ROOM_NO_CSUM_RESET
#define TAKE_ROOM (BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET)

// On to the next program, or the stack.
enum { NEXT = -1 };

// Fills the bytes inserted into a packet. Returns whether it could.
static __always_inline int put(struct __sk_buff *skb, struct pdm option, __u16 payload)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (data + TRANSPORT + PDM_BYTES > end)
		return 0;
	*(struct pdm *)(data + TRANSPORT) = option;
	*(__u8 *)(data + NEXT_HEADER) = DESTINATION_OPTIONS;
	*(__be16 *)(data + PAYLOAD_LENGTH) = bpf_htons(payload + PDM_BYTES);
	return 1;
}

// Removes these bytes from a packet again. Returns whether it could.
static __always_inline int take(struct __sk_buff *skb, __u8 next_header, __u16 payload)
{
	void *data, *end;

	if (bpf_skb_adjust_room(skb, -PDM_BYTES, BPF_ADJ_ROOM_NET, TAKE_ROOM))
		return 0;
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	if (data + TRANSPORT > end)
		return 0;
	*(__u8 *)(data + NEXT_HEADER) = next_header;
	*(__be16 *)(data + PAYLOAD_LENGTH) = bpf_htons(payload - PDM_BYTES);
	return 1;
}

// Filled in by the loader.
struct config {
	// Packets whose remote address, under the mask, is this.
	__u64 prefix[2];
	__u64 mask[2];
	// A port on either side, in network order; 0 is any.
	__be16 port;
	// Whether a TCP packet that offload will segment gets one option for all its segments, or goes without.
	__u8 once;
	// Whether options stay where they are.
	__u8 leave;
	__u32 unused;
};
struct config config SEC(".data.config") = { .once = 0 };

// Random numbers, set before the programs are loaded: outsiders cannot predict which flows share a set.
const volatile __u64 seed[5] SEC(".rodata.seed") = { 0 };

enum counter {
	MARKED, NOT_IPV6, OTHER_PROTOCOL, CONTROL, UNFILTERED, OFFLOADED, EXCEEDS_LINK_MTU, EXCEEDS_PATH_MTU, NOT_MARKED,
	MALFORMED, CLAMPED, READ, WITHOUT, REMOVED, TOO_BIG, COUNTERS
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, COUNTERS);
} counters SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		*counter += 1;
}

// Packets whose first bytes are non-linear are rare.
static __always_inline void gather(struct __sk_buff *skb, __u32 bytes)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u32 length = skb->len;

	if (data + bytes > end && (__u32)(end - data) < length)
		bpf_skb_pull_data(skb, length < bytes ? length : bytes);
}

// Neighbour discovery, multicast listeners and errors.
static __always_inline int is_control(__u8 type)
{
	return (type >= 1 && type <= 4) || (type >= 130 && type <= 137) || type == 143;
}
