// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Reads the option of packets that come in, keeps what it tells, and takes it out.
#include "pdm.h"

SEC("tc") int pdm_ingress(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u64 now, hash, round_trip = 0, server;
	__u16 psntp, psnlr;
	__u32 index, ports;
	struct flow *flow;
	struct set *set;
	struct pdm pdm;
	struct key key;
	__s16 ahead;

	if (data + SHORTEST > end || *(__be16 *)(data + TYPE) != TYPE_IPV6)
		return NEXT;
	if (*(__u8 *)(data + NEXT_HEADER) != DESTINATION_OPTIONS || data + TRANSPORT + PDM_BYTES + 4 > end) {
		count(WITHOUT);
		return NEXT;
	}
	pdm = *(struct pdm *)(data + TRANSPORT);
	if (pdm.length != 1 || pdm.type != PDM_TYPE || pdm.option_length != PDM_LENGTH) {
		count(WITHOUT);
		return NEXT;
	}
	key.remote[0] = *(__u64 *)(data + SOURCE);
	key.remote[1] = *(__u64 *)(data + SOURCE + 8);
	key.local[0] = *(__u64 *)(data + DESTINATION);
	key.local[1] = *(__u64 *)(data + DESTINATION + 8);
	if (pdm.next_header == TCP || pdm.next_header == UDP) {
		ports = *(__u32 *)(data + TRANSPORT + PDM_BYTES);
		ports = ports >> 16 | ports << 16;
	} else if (pdm.next_header == ICMPV6) {
		ports = 0;
	} else {
		return NEXT;
	}
	key.rest = ports | (__u64)pdm.next_header << 32;
	if (!wanted(&key))
		return NEXT;
	hash = hash_of(&key);
	index = hash & (SETS - 1);
	set = bpf_map_lookup_elem(&flows, &index);
	if (!set)
		return NEXT;
	psntp = bpf_ntohs(pdm.psntp);
	psnlr = bpf_ntohs(pdm.psnlr);
	server = nanoseconds_of(pdm.scale_dtlr, pdm.dtlr);
	__u32 first = bpf_get_prandom_u32();
	now = bpf_ktime_get_ns();
	bpf_spin_lock(&set->lock);
	flow = flow_of(set, &key, (__u32)(hash >> 32) | 1, first);
	// Numbers between what was expected and what came are lost until they come late.
	ahead = psntp - flow->expected;
	if (!flow->heard || ahead >= 0) {
		if (flow->heard)
			flow->lost += ahead;
		flow->expected = psntp + 1;
	} else {
		flow->reordered++;
		if (flow->lost)
			flow->lost--;
	}
	flow->heard = 1;
	flow->received++;
	flow->received_last = psntp;
	flow->last_received = now;
	if (flow->last_sent)
		flow->dtls = now - flow->last_sent;
	// The packet answers our last one: what passed since then is the round trip.
	if (flow->sent && psnlr == (__u16)(flow->next - 1)) {
		round_trip = now - flow->last_sent;
		flow->round_trips++;
		flow->round_trip_sum += round_trip;
		flow->server_sum += server;
		flow->round_trip = round_trip;
		flow->server = server;
	}
	bpf_spin_unlock(&set->lock);
	if (round_trip) {
		tally(ROUND_TRIP, round_trip);
		tally(SERVER, server);
		tally(NETWORK, round_trip > server ? round_trip - server : 0);
	}

	if (bpf_skb_adjust_room(skb, -PDM_BYTES, BPF_ADJ_ROOM_NET, ROOM_FLAGS))
		return NEXT;
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	if (data + TRANSPORT > end)
		return NEXT;
	*(__u8 *)(data + NEXT_HEADER) = pdm.next_header;
	*(__be16 *)(data + PAYLOAD_LENGTH) = bpf_htons(bpf_ntohs(*(__be16 *)(data + PAYLOAD_LENGTH)) - PDM_BYTES);
	count(STRIPPED);
	return NEXT;
}
