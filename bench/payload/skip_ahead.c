// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Skip ahead and check: attributes whose sizes are known by their tags of 16 bits, in any order, behind an Ethernet header.
// The query attribute has the last of KINDS tags, and a value of one byte. SIZES is the size of each kind by its tag, from 0 on,
// in bytes with the tag; 0 where there is no such kind, and for the query attribute.
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define may_goto(label) asm volatile goto("may_goto %l[" #label "]" : : : : label)
// Keeps clang from using another register than the one that was checked.
#define checked(var) asm volatile("" : "+r"(var))

enum { ETHERNET_BYTES = 14, LONGEST = 4096, VALUE = 7 };

static const __u8 sizes[KINDS] = { SIZES };

SEC("xdp")
int skip_ahead(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data;
	__u8 *end = (void *)(long)ctx->data_end;
	__u64 at = ETHERNET_BYTES;

	// Of a number that it knows the verifier would follow every turn.
	checked(at);
	for (;;) {
		__u8 *here;
		__u64 tag;

		if (at > LONGEST)
			return XDP_DROP;
		here = data + at;
		checked(here);
		if (here + 2 > end)
			return XDP_DROP;
		tag = bpf_ntohs(*(__be16 *)here);
		if (tag == KINDS) {
			if (here + 3 > end)
				return XDP_DROP;
			return here[2] == VALUE ? XDP_PASS : XDP_DROP;
		}
		checked(tag);
		if (tag >= KINDS || !sizes[tag])
			return XDP_DROP;
		at += sizes[tag];
		may_goto(too_long);
	}
too_long:
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
