// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/xdp11: IPv4 goes back with the MAC addresses exchanged, other types pass.
#include "packet.h"

SEC("xdp")
int xdp11(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct mac dst;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) != TYPE_IPV4)
		return XDP_PASS;
	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	dst = mac_at(data + DST);
	put_mac(data + DST, mac_at(data + SRC));
	put_mac(data + SRC, dst);
	return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
