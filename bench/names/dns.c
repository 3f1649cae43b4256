// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/url_firewall for DNS queries over IPv4: drops those for a name on a list, or below
// such a name.
#include "names.h"

enum { PROTOCOL_UDP = 17, PORT_DNS = 53, UDP_BYTES = 8, DNS_BYTES = 12 };

struct udp {
	__be16 src;
	__be16 dst;
	__be16 length;
	__sum16 checksum;
};

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
	if (!wire_is_blocked(query, bytes + 1))
		return XDP_PASS;
	count = bpf_map_lookup_elem(&dropped, &zero);
	if (count)
		*count += 1;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
