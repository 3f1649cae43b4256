// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of tests/scale/tcp_options.p4: up to ten TCP options in one loop, which corrects them where they
// lie and notes their order; what opens a connection is looked up by it.
//
// Map systems: key eight bytes, the order of the options and then the window scale in the lowest six as one
// number, value {action, class}: action 0 counts the class, 1 drops.
#include "packet.h"

enum { CLASSIFY, REFUSE };

struct system {
	__u32 action;
	__u32 class;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, struct system);
	__uint(max_entries, 1024);
} systems SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 16);
} senders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 3);
} changed SEC(".maps");

volatile __u16 largest_mss = 0xffff;

struct tcp {
	__be16 src;
	__be16 dst;
	__be32 seq;
	__be32 ack;
	__u8 offset;
	__u8 flags;
	__be16 window;
	__sum16 checksum;
	__be16 urgent;
};

enum { TCP = 6, SYN = 0x02, ACK = 0x10, OPTIONS = 10, LARGEST_SHIFT = 14 };
enum { END, NOP, MSS, WINDOW_SCALE, SACK_PERMITTED, SACK, TIMESTAMPS = 8, OTHER = 15 };
enum { CHANGED_MSS, CHANGED_SHIFT, CHANGED_ECHO };

static __always_inline void count(void *map, __u32 index, __u32 by)
{
	__u64 *counter = bpf_map_lookup_elem(map, &index);

	if (counter)
		*counter += by;
}

// A word at an odd offset counts with its bytes swapped.
static __always_inline __u32 change(__be16 old, __be16 new, _Bool odd)
{
	return odd ? change16(__builtin_bswap16(old), __builtin_bswap16(new)) : change16(old, new);
}

SEC("xdp")
int tcp_options(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct tcp *tcp = (void *)(ip + 1);
	__u32 sum = 0, left, at = 0, mss_changed = 0, shift_changed = 0, echo_changed = 0;
	__u64 order = 0;
	__u8 shift = 0;
	_Bool opens;
	int i;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) != TYPE_IPV4)
		return XDP_PASS;
	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	if ((ip->version_ihl & 0x0f) != 5 || ip->fragment & bpf_htons(0x3fff) || ip->protocol != TCP)
		return XDP_PASS;
	if ((void *)(tcp + 1) > end)
		return XDP_ABORTED;
	left = (tcp->offset >> 4) * 4;
	if (left < sizeof(*tcp))
		return XDP_ABORTED;
	left -= sizeof(*tcp);
	opens = (tcp->flags & (SYN | ACK)) == SYN;

	for (i = 0; i < OPTIONS && left; i++) {
		__u8 *option = (void *)(tcp + 1) + at;
		__u32 length = 1, kind;

		if (at > 40 || (void *)(option + 1) > end)
			return XDP_ABORTED;
		kind = option[0];
		if (kind == END) {
			if ((void *)option + (left & 63) > end)
				return XDP_ABORTED;
			order <<= 4;
			left = 0;
			break;
		}
		if (kind != NOP) {
			if ((void *)(option + 2) > end)
				return XDP_ABORTED;
			length = option[1];
			if (length < 2 || length > left || (void *)option + length > end)
				return XDP_ABORTED;
			if (kind == MSS && length == 4) {
				__be16 *mss = (void *)(option + 2);
				__u16 largest = largest_mss;

				if ((void *)(mss + 1) > end)
					return XDP_ABORTED;
				if (bpf_ntohs(*mss) > largest) {
					sum += change(*mss, bpf_htons(largest), at & 1);
					*mss = bpf_htons(largest);
					mss_changed++;
				}
			} else if (kind == WINDOW_SCALE && length == 3) {
				if ((void *)(option + 3) > end)
					return XDP_ABORTED;
				shift = option[2];
				if (shift > LARGEST_SHIFT) {
					sum += change(bpf_htons(shift << 8), bpf_htons(LARGEST_SHIFT << 8), at & 1);
					option[2] = LARGEST_SHIFT;
					shift_changed++;
				}
			} else if (kind == TIMESTAMPS && length == 10) {
				__be16 *echo = (void *)(option + 6);

				if ((void *)(echo + 2) > end)
					return XDP_ABORTED;
				if (opens && (echo[0] || echo[1])) {
					sum += change(echo[0], 0, at & 1) + change(echo[1], 0, at & 1);
					echo[0] = 0;
					echo[1] = 0;
					echo_changed++;
				}
			} else if (!(kind == SACK_PERMITTED && length == 2) &&
				   !(kind == SACK && (length == 10 || length == 18 || length == 26 || length == 34))) {
				kind = OTHER;
			}
		}
		order = order << 4 | kind;
		at += length;
		left -= length;
	}
	if (left)
		return XDP_ABORTED;

	if (sum)
		tcp->checksum = checksum_after(tcp->checksum, sum);
	if (mss_changed)
		count(&changed, CHANGED_MSS, mss_changed);
	if (shift_changed)
		count(&changed, CHANGED_SHIFT, shift_changed);
	if (echo_changed)
		count(&changed, CHANGED_ECHO, echo_changed);
	if (opens) {
		__u64 key = order << 8 | shift;
		struct system *system = bpf_map_lookup_elem(&systems, &key);

		if (system && system->action == REFUSE)
			return XDP_DROP;
		count(&senders, system ? system->class & 15 : 0, 1);
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
