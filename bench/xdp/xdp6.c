// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/xdp6: the entry for the destination address gives the new TTL.
//
// Map ttls: key the 4 bytes of the address, value {action, ttl}: action 0 rewrites, 1 passes, 2 drops.
#include "packet.h"

enum { REWRITE, PASS, DROP };

struct entry {
	__u32 action;
	__u8 ttl;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __be32);
	__type(value, struct entry);
	__uint(max_entries, 64);
} ttls SEC(".maps");

SEC("xdp")
int xdp6(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct entry *entry;
	__be32 key;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) != TYPE_IPV4)
		return XDP_DROP;
	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	key = ip->dst;
	entry = bpf_map_lookup_elem(&ttls, &key);
	if (!entry || entry->action == DROP)
		return XDP_DROP;
	if (entry->action == REWRITE)
		ip->ttl = entry->ttl;
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
