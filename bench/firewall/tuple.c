// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Exact look-up of a connection over IPv4, as a program needs it at least that has decided on it: addresses, ports and
// protocol in one hash map.
#include "../xdp/packet.h"

struct tuple {
	__be32 src;
	__be32 dst;
	__be32 ports;
	__u32 protocol;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct tuple);
	__type(value, __u64);
	__uint(max_entries, 65536);
} connections SEC(".maps");

SEC("xdp.frags")
int known(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct tuple tuple;
	__u64 *verdict;
	__be32 *ports;
	__u32 header;

	if ((void *)(ip + 1) > end || type_of(data) != TYPE_IPV4)
		return XDP_PASS;
	header = (ip->version_ihl & 15) * 4;
	ports = (void *)ip + header;
	if (header < 20 || (void *)(ports + 1) > end)
		return XDP_PASS;
	tuple = (struct tuple){ ip->src, ip->dst, *ports, ip->protocol };
	verdict = bpf_map_lookup_elem(&connections, &tuple);
	return verdict && *verdict ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
