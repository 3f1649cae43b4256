// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// The baseline for programs that send a packet back: two instructions.
#include "packet.h"

SEC("xdp")
int tx(struct xdp_md *ctx)
{
	return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
