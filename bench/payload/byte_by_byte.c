// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/payload/byte_by_byte.p4: counts the UDP packets whose payload has a value of 25 bytes,
// which is searched for by Boyer-Moore-Horspool's algorithm; passes every packet.
#include "../xdp/packet.h"

#define VALUE "city=Paris;country=France"
enum { VALUE_BYTES = sizeof(VALUE) - 1, LAST = VALUE_BYTES - 1, MOST = 0x7fff };
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

// How far a place moves on for the byte at its end: to where that byte is in the value, or behind it.
static const __u8 shifts[256] = {
#define OTHERS VALUE_BYTES
	[0 ... ';' - 1] = OTHERS, [';'] = 14, ['<'] = OTHERS, ['='] = 6, ['>' ... 'E'] = OTHERS, ['F'] = 5,
	['G' ... 'O'] = OTHERS, ['P'] = 19, ['Q' ... '`'] = OTHERS, ['a'] = 3, ['b'] = OTHERS, ['c'] = 1,
	['d' ... 'h'] = OTHERS, ['i'] = 16, ['j' ... 'm'] = OTHERS, ['n'] = 2, ['o'] = 12, ['p' ... 'q'] = OTHERS,
	['r'] = 4, ['s'] = 15, ['t'] = 9, ['u'] = 11, ['v' ... 'x'] = OTHERS, ['y'] = 7, ['z' ... 255] = OTHERS,
};

#define may_goto(label) asm volatile goto("may_goto %l[" #label "]" : : : : label)

// The value but for its last byte, eight bytes at a time.
static __always_inline int same(const void *at)
{
	const __be64 *words = at;

	return words[0] == bpf_cpu_to_be64(0x636974793d506172) && words[1] == bpf_cpu_to_be64(0x69733b636f756e74) &&
	       words[2] == bpf_cpu_to_be64(0x72793d4672616e63);
}

// Where the payload begins, which the verifier must not know: it would follow the search place by place.
volatile __u64 start = PAYLOAD;

SEC("xdp")
int payload_search(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	struct udp *udp = (void *)(ip + 1);
	__u32 zero = 0;
	__u64 at = start, stop;
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
	if (at + VALUE_BYTES > stop)
		return XDP_PASS;
	asm volatile("" : "+r"(at));
	if (at > MOST)
		return XDP_DROP;
	{
		const __u8 *place = data + at;
		__u8 last;

		if ((void *)(place + VALUE_BYTES) > end)
			return XDP_DROP;
		last = place[LAST];
		if (last != 'e' || !same(place)) {
			at += shifts[last];
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
