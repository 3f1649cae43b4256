// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/payload/automaton.p4: counts the UDP packets whose payload has "id=", at least one digit and a
// semicolon, which an automaton looks for that takes one byte a turn; passes every packet.
#include "../xdp/packet.h"

enum { MOST = 0x7fff };
enum { PROTOCOL_UDP = 17, UDP_BYTES = 8, PAYLOAD = ETHERNET_BYTES + 20 + UDP_BYTES };

struct udp {
	__be16 src;
	__be16 dst;
	__be16 length;
	__sum16 checksum;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} found SEC(".maps");

enum { TEXT, AFTER_I, AFTER_ID, AFTER_EQUALS, DIGITS, FOUND };

// By state and byte the next state.
static const __u8 next[8][256] = {
	[TEXT] = { ['i'] = AFTER_I },
	[AFTER_I] = { ['i'] = AFTER_I, ['d'] = AFTER_ID },
	[AFTER_ID] = { ['i'] = AFTER_I, ['='] = AFTER_EQUALS },
	[AFTER_EQUALS] = { ['i'] = AFTER_I, ['0' ... '9'] = DIGITS },
	[DIGITS] = { ['i'] = AFTER_I, ['0' ... '9'] = DIGITS, [';'] = FOUND },
};

#define may_goto(label) asm volatile goto("may_goto %l[" #label "]" : : : : label)

// Where the payload begins, which the verifier must not know: it would follow the automaton byte by byte.
volatile __u64 start = PAYLOAD;

SEC("xdp")
int payload_automaton(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct udp *udp = (void *)(ip + 1);
	__u32 zero = 0;
	__u64 at = start, stop, state = TEXT;
	__u64 *count;

	if (data + ETHERNET_BYTES > end)
		return XDP_DROP;
	if (type_of(data) != bpf_htons(0x0800))
		return XDP_PASS;
	if ((void *)udp > end)
		return XDP_DROP;
	if ((ip->version_ihl & 15) != 5 || ip->fragment & bpf_htons(0x1fff) || ip->protocol != PROTOCOL_UDP)
		return XDP_PASS;
	if ((void *)(udp + 1) > end)
		return XDP_DROP;
	stop = PAYLOAD - UDP_BYTES + bpf_ntohs(udp->length);
again:
	if (at >= stop)
		return XDP_PASS;
	asm volatile("" : "+r"(at));
	if (at > MOST)
		return XDP_DROP;
	{
		const __u8 *place = data + at;

		if ((void *)(place + 1) > end)
			return XDP_DROP;
		state = next[state & 7][*place];
		if (state != FOUND) {
			at++;
			may_goto(give_up);
			goto again;
		}
	}
	count = bpf_map_lookup_elem(&found, &zero);
	if (count)
		*count += 1;
	return XDP_PASS;
give_up:
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
