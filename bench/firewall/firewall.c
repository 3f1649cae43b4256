// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of programs/url_firewall over IPv4: drops ClientHellos, HTTP requests and DNS queries for a name on
// a list, or below such a name. It reads a message that is whole in its packet, and does not follow those that are cut.
#include "../names/names.h"

enum {
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PORT_DNS = 53,
	PORT_HTTP = 80,
	PORT_TLS = 443,
	UDP_BYTES = 8,
	DNS_BYTES = 12,
	MOST = 0x3fff,
};

struct udp {
	__be16 src;
	__be16 dst;
	__be16 length;
	__sum16 checksum;
};

struct tcp {
	__be16 src;
	__be16 dst;
	__be32 seq;
	__be32 ack;
	__u8 offset;
	__u8 flags;
	__be16 window;
	__sum16 checksum;
	__be16 urgent;
};

#define AT(offset, bytes, otherwise)                     \
	({                                               \
		void *at_ = data + ((offset) & MOST);    \
		if (at_ + (bytes) > end)                 \
			return otherwise;                \
		(__u8 *)at_;                             \
	})

// Copies a name, and returns the number of bytes that may be of it.
static __always_inline __u32 copy(struct xdp_md *ctx, struct query *query, __u32 from, __u32 into, __u32 bytes)
{
	if (bytes - 1 > 0xffff)
		return 0;
	if (bytes > 256)
		bytes = 256;
	bytes--;
	asm volatile("" : "+r"(bytes));
	bytes &= 255;
	return bpf_xdp_load_bytes(ctx, from, query->name + into, bytes + 1) ? 0 : bytes + 1;
}

static __always_inline __u32 be16_at(__u8 *at)
{
	return at[0] << 8 | at[1];
}

// Returns the offset of a ClientHello's server name in the lower half, and its length in the upper one, or 0.
__attribute__((noinline)) __u64 server_name(struct xdp_md *ctx, __u32 at)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u32 kind;
	__u8 *head = AT(at, 44, 0);

	if (head[0] != 22 || head[5] != 1)
		return 0;
	at += 44 + head[43];
	head = AT(at, 2, 0);
	at += 2 + be16_at(head);
	head = AT(at, 1, 0);
	at += 1 + head[0] + 2;
	for (;;) {
		head = AT(at, 9, 0);
		kind = be16_at(head);
		if (!kind)
			return (__u64)be16_at(head + 7) << 32 | (at + 9);
		at += 4 + be16_at(head + 2);
		if (at > MOST)
			return 0;
		forget(at);
		may_goto(give_up);
	}
give_up:
	return 0;
}

// Returns the offset of the value of a request's host, or 0.
__attribute__((noinline)) __u32 host(struct xdp_md *ctx, __u32 at)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;

	for (;;) {
		__u8 *head = AT(at, 16, 0);
		__u64 found = equal(*(__u64 *)head, '\n');

		if (found) {
			__u64 word;

			at += first(found) + 1;
			head = AT(at, 8, 0);
			word = *(__u64 *)head | 0x20202020;
			if ((word & 0xffffffffffull) == 0x3a74736f68ull) {
				at += 5;
				for (int i = 0; i < 2; i++) {
					head = AT(at, 1, 0);
					if (*head != ' ')
						break;
					at++;
				}
				return at;
			}
			// The end of the head.
			if (head[0] == '\r')
				return 0;
		} else {
			at += 8;
		}
		if (at > MOST)
			return 0;
		forget(at);
		may_goto(give_up);
	}
give_up:
	return 0;
}

SEC("xdp.frags")
int firewall(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	__u32 zero = 0, header, at, bytes, port;
	struct query *query;
	__u64 *count, name;
	int is_blocked;

	if ((void *)(ip + 1) > end || type_of(data) != TYPE_IPV4)
		return XDP_PASS;
	header = (ip->version_ihl & 15) * 4;
	if (header < 20 || ip->fragment & bpf_htons(0x3fff))
		return XDP_PASS;
	query = bpf_map_lookup_elem(&queries, &zero);
	if (!query)
		return XDP_PASS;
	at = ETHERNET_BYTES + header;
	bytes = ETHERNET_BYTES + bpf_ntohs(ip->total_len);
	if (ip->protocol == PROTOCOL_UDP) {
		struct udp *udp = (void *)ip + header;

		if ((void *)(udp + 1) > end || udp->dst != bpf_htons(PORT_DNS))
			return XDP_PASS;
		at += UDP_BYTES + DNS_BYTES;
		bytes = copy(ctx, query, at, 0, bytes - at);
		if (!bytes)
			return XDP_PASS;
		is_blocked = wire_is_blocked(query, bytes);
	} else if (ip->protocol == PROTOCOL_TCP) {
		struct tcp *tcp = (void *)ip + header;

		if ((void *)(tcp + 1) > end)
			return XDP_PASS;
		port = bpf_ntohs(tcp->dst);
		at += (tcp->offset >> 4) * 4;
		if (bytes <= at)
			return XDP_PASS;
		if (port == PORT_TLS) {
			name = server_name(ctx, at);
			at = name & MOST;
			bytes = name >> 32;
		} else if (port == PORT_HTTP) {
			at = host(ctx, at) & MOST;
			bytes -= at;
		} else {
			return XDP_PASS;
		}
		if (!at)
			return XDP_PASS;
		bytes = copy(ctx, query, at, 1, bytes);
		if (!bytes)
			return XDP_PASS;
		is_blocked = text_is_blocked(query, bytes);
	} else {
		return XDP_PASS;
	}
	if (!is_blocked)
		return XDP_PASS;
	count = bpf_map_lookup_elem(&dropped, &zero);
	if (count)
		*count += 1;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
