// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/xdp1: IPv4 passes, other types are dropped, a header that ends too early aborts.
#include "packet.h"

SEC("xdp")
int xdp1(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) != TYPE_IPV4)
		return XDP_DROP;
	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
