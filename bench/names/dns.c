// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/url_firewall for DNS queries over IPv4: drops those for a name on a list, or below
// such a name. Names stay in wire form, so a rest of a name begins at each label, and its hash is that of its labels from
// the last one on. BUCKETS and RECORDS are macros in front.
#include "../xdp/packet.h"

enum { PROTOCOL_UDP = 17, PORT_DNS = 53, UDP_BYTES = 8, DNS_BYTES = 12, MASK = 511, SLOTS = 8, FRONT = 24 };

struct udp {
	__be16 src;
	__be16 dst;
	__be16 length;
	__sum16 checksum;
};

// The number of a record in the lower half, or 0, and half of a hash.
struct bucket {
	__u64 slot[SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct bucket);
	__uint(max_entries, BUCKETS);
} buckets SEC(".maps");

// A name's first bytes; others are in the records behind it, filled with zeros.
struct record {
	__u32 blocks;
	__u32 length;
	__u64 name[FRONT / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct record);
	__uint(max_entries, RECORDS);
} records SEC(".maps");

struct query {
	__u8 name[MASK + 1 + 64];
	__u8 start[128];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct query);
	__uint(max_entries, 1);
} queries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} dropped SEC(".maps");

#define may_goto(label) asm volatile goto("may_goto %l[" #label "]" : : : : label)
// The verifier forgets a number's bounds, which would be others in each iteration.
#define forget(number) asm volatile("%0 = be32 %0; %0 = be32 %0" : "+r"(number))

volatile const __u64 seed = 0x5851f42d4c957f2d;

static __always_inline __u64 mixed(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static __always_inline __u64 lower(__u64 word)
{
	__u64 ones = 0x0101010101010101, low = word & 0x7f * ones;

	return word | (~word & 0x80 * ones & ((low + 63 * ones) ^ (low + 37 * ones))) >> 2;
}

// Whether a record has the name from `from` on, which has `bytes` bytes.
__attribute__((noinline)) __u32 same(struct query *query, __u32 from, __u32 bytes, __u32 number)
{
	struct record *record = bpf_map_lookup_elem(&records, &number);
	__u64 *name, *more;
	__u32 at;

	if (!query || !record || record->length != bytes)
		return 0;
	name = (void *)(query->name + (from & MASK));
	if (record->name[0] != name[0] || record->name[1] != name[1] || record->name[2] != name[2])
		return 0;
	bytes += from;
	for (at = from + FRONT; at < bytes; at += 32) {
		number++;
		more = bpf_map_lookup_elem(&records, &number);
		name = (void *)(query->name + (at & MASK));
		if (!more || more[0] != name[0] || more[1] != name[1] || more[2] != name[2] || more[3] != name[3])
			return 0;
		forget(at);
		may_goto(give_up);
	}
	return record->blocks;
give_up:
	return 0;
}

// Whether the rest of a name is on the list.
__attribute__((noinline)) __u32 listed(struct query *query, __u32 from, __u32 bytes, __u64 hash)
{
	__u32 tag = hash >> 32, number = (__u64)(__u32)hash * BUCKETS >> 32;
	struct bucket *bucket;

	for (;;) {
		bucket = bpf_map_lookup_elem(&buckets, &number);
		if (!bucket)
			return 0;
#pragma unroll
		for (int at = 0; at < SLOTS; at++) {
			__u64 slot = bucket->slot[at];

			if (!slot)
				return 0;
			if (slot >> 32 == tag && same(query, from, bytes, slot))
				return 1;
		}
		number++;
		if (number == BUCKETS)
			number = 0;
		may_goto(give_up);
	}
give_up:
	return 0;
}

// Reads the name in `bytes` bytes, and looks its rests up.
__attribute__((noinline)) __u32 blocked(struct query *query, __u32 bytes)
{
	__u32 at, count = 0, left, from, size, found = 0;
	__u64 hash = seed, word;

	if (!query)
		return 0;
	for (left = bytes;;) {
		__u64 *words = (void *)(query->name + ((left - 1) & (MASK & ~7u)));

		*words = lower(*words);
		if (left <= 8)
			break;
		left -= 8;
		forget(left);
		may_goto(give_up);
	}
	for (at = 0;;) {
		size = query->name[at & MASK];
		if (!size)
			break;
		if (size > 63 || count >= 127)
			return 0;
		query->start[count & 127] = at;
		count++;
		at += size + 1;
		if (at >= bytes || at > 254)
			return 0;
		forget(at);
		forget(count);
		may_goto(give_up);
	}
#pragma unroll
	for (int i = 0; i < 40; i += 8)
		*(__u64 *)(query->name + (at & MASK) + i) = 0;
	while (count) {
		count--;
		from = query->start[count & 127];
		left = query->name[from & MASK] + 1;
		for (size = from;;) {
			word = *(__u64 *)(query->name + (size & MASK));
			if (left < 8)
				word &= (1ull << (8 * left & 63)) - 1;
			hash = mixed(hash, word);
			if (left <= 8)
				break;
			left -= 8;
			size += 8;
			forget(left);
			forget(size);
			may_goto(give_up);
		}
		found |= listed(query, from, at - from, hash);
		forget(count);
		may_goto(give_up);
	}
	return found;
give_up:
	return 0;
}

SEC("xdp.frags")
int dns_firewall(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	__u32 zero = 0, header, begin, bytes;
	struct query *query;
	struct udp *udp;
	__u64 *count;

	if ((void *)(ip + 1) > end || type_of(data) != TYPE_IPV4)
		return XDP_PASS;
	header = (ip->version_ihl & 15) * 4;
	if (header < 20 || ip->fragment & bpf_htons(0x3fff) || ip->protocol != PROTOCOL_UDP)
		return XDP_PASS;
	udp = (void *)ip + header;
	if ((void *)(udp + 1) > end || udp->dst != bpf_htons(PORT_DNS))
		return XDP_PASS;
	begin = ETHERNET_BYTES + header + UDP_BYTES + DNS_BYTES;
	bytes = bpf_ntohs(udp->length) - UDP_BYTES - DNS_BYTES;
	if (bytes - 1 > 0xffff || begin + bytes > end - data)
		return XDP_PASS;
	if (bytes > 256)
		bytes = 256;
	query = bpf_map_lookup_elem(&queries, &zero);
	if (!query)
		return XDP_PASS;
	bytes--;
	asm volatile("" : "+r"(bytes));
	bytes &= MASK;
	if (bpf_xdp_load_bytes(ctx, begin, query->name, bytes + 1))
		return XDP_PASS;
	if (!blocked(query, bytes + 1))
		return XDP_PASS;
	count = bpf_map_lookup_elem(&dropped, &zero);
	if (count)
		*count += 1;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
