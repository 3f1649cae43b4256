// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Puts the option into TCP, UDP and ICMPv6 echo packets that go out.
#include "pdm.h"

enum { TCP_OFFSET = 12, TCP_FLAGS = 13, TCP_CHECKSUM = 16, TCP_BYTES = 20, SYN = 2 };
enum { OPTION_END = 0, OPTION_NOTHING = 1, OPTION_MSS = 2, OPTION_MSS_BYTES = 4 };

// Makes a SYN's MSS small enough for the option. Options are at most 40 bytes.
static __noinline int clamp_mss(struct __sk_buff *skb)
{
	__u16 most = config.mtu - 60 - PDM_BYTES;
	__u32 at = TRANSPORT + TCP_BYTES, end;
	__u8 offset;

	if (bpf_skb_load_bytes(skb, TRANSPORT + TCP_OFFSET, &offset, 1))
		return 0;
	end = TRANSPORT + (offset >> 4) * 4;
	for (int options = 0; options < 40 && at + OPTION_MSS_BYTES <= end; options++) {
		__u8 kind[2];
		__be16 old, new = bpf_htons(most);

		if (bpf_skb_load_bytes(skb, at, kind, 2) || kind[0] == OPTION_END)
			return 0;
		if (kind[0] == OPTION_NOTHING) {
			at++;
			continue;
		}
		if (kind[0] != OPTION_MSS) {
			if (kind[1] < 2)
				return 0;
			at += kind[1];
			continue;
		}
		if (bpf_skb_load_bytes(skb, at + 2, &old, 2) || bpf_ntohs(old) <= most)
			return 0;
		// An odd offset turns the words around that the checksum adds.
		if (at & 1)
			bpf_l4_csum_replace(skb, TRANSPORT + TCP_CHECKSUM, bpf_ntohs(old), bpf_ntohs(new), 2);
		else
			bpf_l4_csum_replace(skb, TRANSPORT + TCP_CHECKSUM, old, new, 2);
		bpf_skb_store_bytes(skb, at + 2, &new, 2, 0);
		count(CLAMPED);
		return 0;
	}
	return 0;
}

SEC("tc") int pdm_egress(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u16 sequence, received_last;
	__u64 now, since, dtls, hash;
	struct scaled dtlr_scaled, dtls_scaled;
	__u32 index, segment;
	struct flow *flow;
	struct set *set;
	struct pdm *pdm;
	struct key key;
	__u8 protocol;

	if (data + SHORTEST > end || *(__be16 *)(data + TYPE) != TYPE_IPV6)
		return NEXT;
	protocol = *(__u8 *)(data + NEXT_HEADER);
	key.local[0] = *(__u64 *)(data + SOURCE);
	key.local[1] = *(__u64 *)(data + SOURCE + 8);
	key.remote[0] = *(__u64 *)(data + DESTINATION);
	key.remote[1] = *(__u64 *)(data + DESTINATION + 8);
	if (protocol == ICMPV6) {
		__u8 type = *(__u8 *)(data + TRANSPORT);

		if (type != ECHO_REQUEST && type != ECHO_REPLY)
			return NEXT;
		key.rest = (__u64)ICMPV6 << 32;
	} else if (protocol == TCP || protocol == UDP) {
		key.rest = *(__u32 *)(data + TRANSPORT) | (__u64)protocol << 32;
	} else {
		return NEXT;
	}
	if (!wanted(&key))
		return NEXT;
	if (protocol == TCP && data + TRANSPORT + TCP_BYTES <= end &&
	    *(__u8 *)(data + TRANSPORT + TCP_FLAGS) & SYN)
		clamp_mss(skb);

	// What a segment measures is not told; without GSO it is the packet.
	segment = skb->gso_size ? skb->gso_size + TRANSPORT - 14 + (protocol == TCP ? 32 : 8) : skb->len - 14;
	if (segment + PDM_BYTES > config.mtu) {
		count(NO_ROOM);
		return NEXT;
	}
	hash = hash_of(&key);
	index = hash & (SETS - 1);
	set = bpf_map_lookup_elem(&flows, &index);
	if (!set)
		return NEXT;
	// The room is made first: a packet that gets none takes no number.
	if (bpf_skb_adjust_room(skb, PDM_BYTES, BPF_ADJ_ROOM_NET, ROOM_FLAGS)) {
		count(NOT_INSERTED);
		return NEXT;
	}
	__u32 first = bpf_get_prandom_u32();
	now = bpf_ktime_get_ns();
	bpf_spin_lock(&set->lock);
	flow = flow_of(set, &key, (__u32)(hash >> 32) | 1, first);
	sequence = flow->next++;
	flow->sent++;
	flow->last_sent = now;
	received_last = flow->received_last;
	since = flow->heard ? now - flow->last_received : 0;
	dtls = flow->dtls;
	bpf_spin_unlock(&set->lock);
	dtlr_scaled = scaled(since);
	dtls_scaled = scaled(dtls);

	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	pdm = data + TRANSPORT;
	if ((void *)(pdm + 1) > end)
		return NEXT;
	*pdm = (struct pdm){
		.next_header = protocol,
		.length = 1,
		.type = PDM_TYPE,
		.option_length = PDM_LENGTH,
		.scale_dtlr = dtlr_scaled.scale,
		.scale_dtls = dtls_scaled.scale,
		.psntp = bpf_htons(sequence),
		.psnlr = bpf_htons(received_last),
		.dtlr = dtlr_scaled.value,
		.dtls = dtls_scaled.value,
		.padding = { PADN, 0 },
	};
	*(__u8 *)(data + NEXT_HEADER) = DESTINATION_OPTIONS;
	*(__be16 *)(data + PAYLOAD_LENGTH) = bpf_htons(bpf_ntohs(*(__be16 *)(data + PAYLOAD_LENGTH)) + PDM_BYTES);
	count(INSERTED);
	return NEXT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
