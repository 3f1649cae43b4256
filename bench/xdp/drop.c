// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// The baseline for programs that end a packet: two instructions.
#include "packet.h"

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
