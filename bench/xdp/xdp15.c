// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/xdp15: eight bytes in front of every packet, which then goes back.
#include "packet.h"

#define TIMESTAMP 0xabababab
#define ID 0xfefefefe

SEC("xdp")
int xdp15(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	__be64 *mark;

	if (data + ETHERNET_BYTES > end)
		return XDP_ABORTED;
	if (type_of(data) == TYPE_IPV4 && (void *)(ip + 1) > end)
		return XDP_ABORTED;
	if (bpf_xdp_adjust_head(ctx, -(int)sizeof(*mark)))
		return XDP_ABORTED;
	mark = (void *)(long)ctx->data;
	if ((void *)(mark + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	*mark = bpf_cpu_to_be64((__u64)TIMESTAMP << 32 | ID);
	return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
