// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of tests/stf/protocol/vxlan.p4: frames to known addresses get 50 bytes of outer headers, and
// VXLAN loses them; everything goes back.
//
// Map segments: key the 6 bytes of the address and two of zero, value the identifier in the upper 24 bits of a word,
// the outer addresses, source and destination, and the outer MAC addresses, source and destination, each followed by two
// bytes of zero; all in network byte order.
#include "packet.h"

struct key {
	__be32 high;
	__be16 low;
	__u16 zero;
};

struct tunnel {
	__be32 vni;
	__be32 src;
	__be32 dst;
	struct mac src_mac;
	struct mac dst_mac;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct key);
	__type(value, struct tunnel);
	__uint(max_entries, 64);
} segments SEC(".maps");

struct udp {
	__be16 src;
	__be16 dst;
	__be16 length;
	__be16 checksum;
};

struct vxlan {
	__be32 flags;
	__be32 vni;
};

enum { UDP = 17, OUTER_BYTES = ETHERNET_BYTES + 20 + 8 + 8, IPV4_BYTES = 36, UDP_BYTES = 16 };

#define VXLAN_PORT bpf_htons(4789)
#define SOURCE_PORT bpf_htons(49152)
#define VALID bpf_htonl(0x08000000)

// Of a header with only these varying: version and length, "do not fragment", time to live and protocol are constant.
static __always_inline __sum16 ipv4_checksum(__be16 total_len, __be32 src, __be32 dst)
{
	__u64 sum = bpf_htons(0x4500) + bpf_htons(0x4000) + bpf_htons(0x4011) + total_len;

	sum += (__u64)src + dst;
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__sum16)~(sum + (sum >> 16));
}

static __always_inline int encapsulate(struct xdp_md *ctx, struct tunnel *to)
{
	__u16 bytes = ctx->data_end - ctx->data;
	void *data, *end;
	struct ipv4 *ip;
	struct udp *udp;
	struct vxlan *vxlan;

	if (bpf_xdp_adjust_head(ctx, -OUTER_BYTES))
		return XDP_ABORTED;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + OUTER_BYTES > end)
		return XDP_ABORTED;
	put_mac(data + DST, to->dst_mac);
	put_mac(data + SRC, to->src_mac);
	*(__be16 *)(data + TYPE) = TYPE_IPV4;
	ip = data + ETHERNET_BYTES;
	udp = (void *)(ip + 1);
	vxlan = (void *)(udp + 1);
	*ip = (struct ipv4){
		.version_ihl = 0x45,
		.total_len = bpf_htons(bytes + IPV4_BYTES),
		.fragment = bpf_htons(0x4000),
		.ttl = 64,
		.protocol = UDP,
		.src = to->src,
		.dst = to->dst,
	};
	ip->checksum = ipv4_checksum(bpf_htons(bytes + IPV4_BYTES), to->src, to->dst);
	*udp = (struct udp){ SOURCE_PORT, VXLAN_PORT, bpf_htons(bytes + UDP_BYTES), 0 };
	*vxlan = (struct vxlan){ VALID, to->vni };
	return XDP_TX;
}

SEC("xdp")
int vxlan(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct udp *udp = (void *)(ip + 1);
	struct tunnel *to;
	struct key key;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) == TYPE_IPV4) {
		if ((void *)ip + 10 > end)
			return XDP_ABORTED;
		if (ip->protocol == UDP) {
			if ((void *)udp + 4 > end)
				return XDP_ABORTED;
			if (udp->dst == VXLAN_PORT && (ip->version_ihl & 0x0f) == 5) {
				if (data + OUTER_BYTES + ETHERNET_BYTES > end)
					return XDP_ABORTED;
				if (bpf_xdp_adjust_head(ctx, OUTER_BYTES))
					return XDP_ABORTED;
				return XDP_TX;
			}
		}
	}
	key = (struct key){ *(__be32 *)data, *(__be16 *)(data + 4), 0 };
	to = bpf_map_lookup_elem(&segments, &key);
	if (!to)
		return XDP_TX;
	return encapsulate(ctx, to);
}

char _license[] SEC("license") = "Dual BSD/GPL";
