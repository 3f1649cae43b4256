// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Inserts the option into outgoing packets.
#include "delay.h"
#include "path.h"

SEC("tc") int pdm_egress(struct __sk_buff *skb)
{
	__u32 index, payload, length, link, mtu, first;
	struct scaled received = {}, sent;
	__u64 now, heard, delta, hash;
	__u16 sequence, answered;
	struct flow *flow;
	struct set *set;
	void *data, *end;
	struct key key;
	__u8 protocol;

	gather(skb, TRANSPORT + TCP_BYTES);
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	if (data + SHORTEST > end || *(__be16 *)(data + TYPE) != TYPE_IPV6) {
		count(NOT_IPV6);
		return NEXT;
	}
	protocol = *(__u8 *)(data + NEXT_HEADER);
	key.local[0] = *(__u64 *)(data + SOURCE);
	key.local[1] = *(__u64 *)(data + SOURCE + 8);
	key.remote[0] = *(__u64 *)(data + DESTINATION);
	key.remote[1] = *(__u64 *)(data + DESTINATION + 8);
	key.rest = (__u64)protocol << 32;
	if (protocol == TCP) {
		if (data + TRANSPORT + TCP_BYTES > end) {
			count(MALFORMED);
			return NEXT;
		}
		key.rest |= *(__u32 *)(data + TRANSPORT);
	} else if (protocol == UDP) {
		key.rest |= *(__u32 *)(data + TRANSPORT);
	} else if (protocol != ICMPV6) {
		count(OTHER_PROTOCOL);
		return NEXT;
	} else if (is_control(*(__u8 *)(data + TRANSPORT))) {
		count(CONTROL);
		return NEXT;
	}
	if (!wanted(&key)) {
		count(UNFILTERED);
		return NEXT;
	}
	payload = bpf_ntohs(*(__be16 *)(data + PAYLOAD_LENGTH));
	length = payload + 40;
	if (skb->gso_size) {
		if (!config.once || protocol != TCP) {
			count(OFFLOADED);
			return NEXT;
		}
	} else if (length > LEAST_MTU - PDM_BYTES) {
		link = link_mtu(skb);
		mtu = path_mtu(&key, link);
		if (length + PDM_BYTES > mtu) {
			count(mtu == link ? EXCEEDS_LINK_MTU : EXCEEDS_PATH_MTU);
			return NEXT;
		}
	}
	// The length of a jumbogram is 0.
	if (!payload || payload > 0xffff - PDM_BYTES) {
		count(EXCEEDS_LINK_MTU);
		return NEXT;
	}
	hash = hash_of(&key);
	index = hash & (SETS - 1);
	set = bpf_map_lookup_elem(&flows, &index);
	// The headroom comes first: a packet that gets none takes no number.
	if (!set || bpf_skb_adjust_room(skb, PDM_BYTES, BPF_ADJ_ROOM_NET, MAKE_ROOM)) {
		count(NOT_MARKED);
		return NEXT;
	}
	first = bpf_get_prandom_u32();
	now = bpf_ktime_get_ns();
	bpf_spin_lock(&set->lock);
	flow = flow_of(set, &key, tag_of(hash), now);
	sequence = flow->time_sent ? flow->psn_next : first;
	if (!flow->first_seen)
		flow->first_seen = now;
	flow->psn_next = sequence + 1;
	flow->time_sent = now;
	flow->sent++;
	answered = flow->psn_received;
	heard = flow->time_received;
	delta = flow->last_sent_delta;
	bpf_spin_unlock(&set->lock);
	if (heard && now > heard)
		received = scaled(now - heard);
	sent = scaled(delta);

	if (!put(skb,
		 (struct pdm){
			 .next_header = protocol,
			 .length = 1,
			 .type = PDM_TYPE,
			 .option_length = PDM_LENGTH,
			 .scale_dtlr = received.scale,
			 .scale_dtls = sent.scale,
			 .psntp = bpf_htons(sequence),
			 .psnlr = bpf_htons(answered),
			 .dtlr = received.value,
			 .dtls = sent.value,
			 .padding = { PADN, 0 },
		 },
		 payload))
		return NEXT;
	count(MARKED);
	return NEXT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
