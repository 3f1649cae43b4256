// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/xdp3: frames for a known destination address get the verdict of its entry,
// others are dropped.
//
// Map macs: key the 6 bytes of the address and 2 of zero, value the verdict (XDP_PASS is 2).
#include "packet.h"

struct mac_key {
	__be32 high;
	__be16 low;
	__u16 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct mac_key);
	__type(value, __u32);
	__uint(max_entries, 64);
} macs SEC(".maps");

SEC("xdp")
int xdp3(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct mac_key key;
	__u32 *verdict;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) == TYPE_IPV4 && (void *)(ip + 1) > end)
		return XDP_ABORTED;
	key.high = mac_at(data + DST).high;
	key.low = mac_at(data + DST).low;
	key.zero = 0;
	verdict = bpf_map_lookup_elem(&macs, &key);
	return verdict ? *verdict : XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
