// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/xdp7: TCP and UDP to a known address get another address and port, and every
// checksum that covers them is corrected by the difference.
//
// Map services: key the 4 bytes of the address, value {action, address, port, zero}, address and port in network
// byte order: action 0 rewrites, 1 passes.
#include "packet.h"

enum { REWRITE, PASS };

struct service {
	__u32 action;
	__be32 addr;
	__be16 port;
	__u16 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __be32);
	__type(value, struct service);
	__uint(max_entries, 64);
} services SEC(".maps");

enum { TCP = 6, UDP = 17, TCP_BYTES = 20, TCP_CHECKSUM = 16, UDP_BYTES = 8, UDP_CHECKSUM = 6 };

SEC("xdp")
int xdp7(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct ports *ports = (void *)(ip + 1);
	__sum16 *checksum = NULL;
	struct service *to;
	__be32 key;
	__u32 change;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) != TYPE_IPV4)
		return XDP_PASS;
	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	if ((ip->version_ihl & 0x0f) != 5)
		return XDP_PASS;
	if (!(ip->fragment & bpf_htons(0x1fff))) {
		if (ip->protocol == TCP) {
			if ((void *)ports + TCP_BYTES > end)
				return XDP_ABORTED;
			checksum = (void *)ports + TCP_CHECKSUM;
		} else if (ip->protocol == UDP) {
			if ((void *)ports + UDP_BYTES > end)
				return XDP_ABORTED;
			checksum = (void *)ports + UDP_CHECKSUM;
		}
	}

	key = ip->dst;
	to = bpf_map_lookup_elem(&services, &key);
	if (!to || to->action != REWRITE)
		return XDP_PASS;

	change = change32(key, to->addr);
	ip->dst = to->addr;
	ip->checksum = checksum_after(ip->checksum, change);
	if (!checksum)
		return XDP_PASS;
	change += change16(ports->dst, to->port);
	ports->dst = to->port;
	if (ip->protocol == TCP) {
		*checksum = checksum_after(*checksum, change);
	} else if (*checksum) {
		*checksum = checksum_after(*checksum, change);
		if (!*checksum)
			*checksum = 0xffff;
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
