// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Passes every packet, of one buffer or of several: the router forwards as with any program at XDP.
#include "../xdp/packet.h"

SEC("xdp.frags")
int pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
