// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of tests/scale/tcp_options.p4: up to ten TCP options in one loop, which corrects them where they
// lie and notes their order; what opens a connection is looked up by it. The loop is bpf_loop's, since the verifier walks
// every path through a plain one of ten turns.
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

// What one turn of the loop leaves to the next.
struct walk {
	struct xdp_md *ctx;
	__u64 order;
	__u32 at;
	__u32 left;
	__u32 sum;
	__u32 changes[3];
	__u8 shift;
	_Bool opens;
	_Bool wrong;
};

enum { FIRST = ETHERNET_BYTES + sizeof(struct ipv4) + sizeof(struct tcp), STOP = 1 };

static long stop_at_error(struct walk *walk)
{
	walk->wrong = 1;
	return STOP;
}

static long option(__u32 turn, struct walk *walk)
{
	void *end = (void *)(long)walk->ctx->data_end;
	__u8 *option = (void *)(long)walk->ctx->data + FIRST;
	__u32 at = walk->at, left = walk->left, length = 1, kind;

	if (!left)
		return STOP;
	if (at > 40 || left > 40)
		return stop_at_error(walk);
	option += at;
	if ((void *)(option + 1) > end)
		return stop_at_error(walk);
	kind = option[0];
	if (kind == END) {
		if ((void *)option + left > end)
			return stop_at_error(walk);
		walk->order <<= 4;
		walk->left = 0;
		return STOP;
	}
	if (kind != NOP) {
		if ((void *)(option + 2) > end)
			return stop_at_error(walk);
		length = option[1];
		if (length < 2 || length > left || (void *)option + length > end)
			return stop_at_error(walk);
		if (kind == MSS && length == 4) {
			__be16 *mss = (void *)(option + 2);
			__u16 largest = largest_mss;

			if ((void *)(mss + 1) > end)
				return stop_at_error(walk);
			if (bpf_ntohs(*mss) > largest) {
				walk->sum += change(*mss, bpf_htons(largest), at & 1);
				*mss = bpf_htons(largest);
				walk->changes[CHANGED_MSS]++;
			}
		} else if (kind == WINDOW_SCALE && length == 3) {
			if ((void *)(option + 3) > end)
				return stop_at_error(walk);
			walk->shift = option[2];
			if (option[2] > LARGEST_SHIFT) {
				walk->sum += change(bpf_htons(option[2] << 8), bpf_htons(LARGEST_SHIFT << 8), at & 1);
				option[2] = LARGEST_SHIFT;
				walk->changes[CHANGED_SHIFT]++;
			}
		} else if (kind == TIMESTAMPS && length == 10) {
			__be16 *echo = (void *)(option + 6);

			if ((void *)(echo + 2) > end)
				return stop_at_error(walk);
			if (walk->opens && (echo[0] || echo[1])) {
				walk->sum += change(echo[0], 0, at & 1) + change(echo[1], 0, at & 1);
				echo[0] = 0;
				echo[1] = 0;
				walk->changes[CHANGED_ECHO]++;
			}
		} else if (!(kind == SACK_PERMITTED && length == 2) &&
			   !(kind == SACK && (length == 10 || length == 18 || length == 26 || length == 34))) {
			kind = OTHER;
		}
	}
	walk->order = walk->order << 4 | (kind & 15);
	walk->at = at + length;
	walk->left = left - length;
	return 0;
}

SEC("xdp")
int tcp_options(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct tcp *tcp = (void *)(ip + 1);
	struct walk walk = { .ctx = ctx };
	__u32 left, i;

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
	walk.left = left - sizeof(*tcp);
	walk.opens = (tcp->flags & (SYN | ACK)) == SYN;
	if (walk.left) {
		bpf_loop(OPTIONS, option, &walk, 0);
		if (walk.wrong || walk.left)
			return XDP_ABORTED;
	}
	if (walk.sum)
		tcp->checksum = checksum_after(tcp->checksum, walk.sum);
	for (i = 0; i < 3; i++)
		if (walk.changes[i])
			count(&changed, i, walk.changes[i]);
	if (walk.opens) {
		__u64 key = walk.order << 8 | walk.shift;
		struct system *system = bpf_map_lookup_elem(&systems, &key);

		if (system && system->action == REFUSE)
			return XDP_DROP;
		count(&senders, system ? system->class & 15 : 0, 1);
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
