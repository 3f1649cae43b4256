// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Reads the option of incoming packets, keeps its data, and removes it.
#include "delay.h"
#include "path.h"

static __always_inline void add(struct delay *delay, __u64 nanoseconds, int is_first)
{
	delay->last = nanoseconds;
	if (is_first || nanoseconds < delay->least)
		delay->least = nanoseconds;
	if (nanoseconds > delay->most)
		delay->most = nanoseconds;
	delay->sum += nanoseconds;
}

// No packet is overtaken by as many.
enum { FAR = 4096 };

// Sequence numbers, modulo 2^16: up to half of them away is ahead. The other host began anew, and with it its
// numbers, if it reports no delay since a packet sent although it did, or if two in a row are far behind.
static __always_inline void follow(struct flow *flow, __u16 psn, int reports)
{
	__u16 ahead = psn - flow->psn_highest, behind;
	int anew = flow->reported && !reports;
	__u64 bit;

	flow->reported = reports;
	if (!flow->received++) {
		flow->psn_highest = psn;
		flow->window = 1;
		flow->expected = 1;
		return;
	}
	if (!ahead) {
		flow->duplicates++;
		return;
	}
	if (ahead < FAR || (ahead < 0x8000 && !anew)) {
		flow->window = ahead < 64 ? flow->window << ahead | 1 : 1;
		flow->expected += ahead;
		flow->psn_highest = psn;
		return;
	}
	behind = flow->psn_highest - psn;
	if (behind >= FAR && (anew || psn == flow->psn_far)) {
		// The first of two in a row was taken for a late one.
		flow->expected += anew ? 1 : 2;
		flow->psn_highest = psn;
		flow->window = 1;
		return;
	}
	bit = behind < 64 ? 1ULL << behind : 0;
	if (flow->window & bit) {
		flow->duplicates++;
		return;
	}
	flow->reordered++;
	flow->window |= bit;
	flow->psn_far = psn + 1;
	// It came before the first one that was received.
	if (behind < FAR && behind >= flow->expected)
		flow->expected = behind + 1;
}

// A packet without the option.
static __always_inline int without(struct __sk_buff *skb, void *data, void *end, __u8 protocol)
{
	if (protocol == ICMPV6) {
		__u8 type = *(__u8 *)(data + TRANSPORT);

		if (type == 2)
			too_big(skb);
		if (is_control(type)) {
			count(CONTROL);
			return NEXT;
		}
	}
	if (protocol == TCP && data + TRANSPORT + TCP_BYTES <= end && *(__u8 *)(data + TRANSPORT + TCP_FLAGS) & SYN)
		clamp_coming(skb, TRANSPORT);
	count(WITHOUT);
	return NEXT;
}

SEC("tc") int pdm_ingress(struct __sk_buff *skb)
{
	__u64 now, hash, round_trip, server;
	__u32 index, payload, copies, ports = 0;
	struct flow *flow;
	struct set *set;
	struct pdm pdm;
	struct key key;
	void *data, *end;
	int sampled = 0, reports;
	__u16 answered;
	__u8 next;

	gather(skb, TRANSPORT + PDM_BYTES + TCP_BYTES);
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	if (data + SHORTEST > end || *(__be16 *)(data + TYPE) != TYPE_IPV6) {
		count(NOT_IPV6);
		return NEXT;
	}
	next = *(__u8 *)(data + NEXT_HEADER);
	if (next != DESTINATION_OPTIONS || data + SHORTEST + PDM_BYTES > end)
		return without(skb, data, end, next);
	pdm = *(struct pdm *)(data + TRANSPORT);
	if (pdm.length != 1 || pdm.type != PDM_TYPE || pdm.option_length != PDM_LENGTH ||
	    pdm.padding[0] > PADN || pdm.padding[1])
		return without(skb, data, end, next);
	key.remote[0] = *(__u64 *)(data + SOURCE);
	key.remote[1] = *(__u64 *)(data + SOURCE + 8);
	key.local[0] = *(__u64 *)(data + DESTINATION);
	key.local[1] = *(__u64 *)(data + DESTINATION + 8);
	payload = bpf_ntohs(*(__be16 *)(data + PAYLOAD_LENGTH));
	if (pdm.next_header == TCP || pdm.next_header == UDP) {
		ports = *(__u32 *)(data + TRANSPORT + PDM_BYTES);
		ports = ports >> 16 | ports << 16;
	} else if (pdm.next_header != ICMPV6) {
		count(OTHER_PROTOCOL);
		return NEXT;
	} else if (is_control(*(__u8 *)(data + TRANSPORT + PDM_BYTES))) {
		count(CONTROL);
		return NEXT;
	}
	key.rest = ports | (__u64)pdm.next_header << 32;
	if (!wanted(&key)) {
		count(UNFILTERED);
		return NEXT;
	}
	if (pdm.next_header == TCP) {
		if (data + TRANSPORT + PDM_BYTES + TCP_BYTES > end) {
			count(MALFORMED);
			return NEXT;
		}
		if (*(__u8 *)(data + TRANSPORT + PDM_BYTES + TCP_FLAGS) & SYN)
			clamp_coming(skb, TRANSPORT + PDM_BYTES);
	}
	hash = hash_of(&key);
	index = hash & (SETS - 1);
	set = bpf_map_lookup_elem(&flows, &index);
	if (!set)
		return NEXT;
	answered = bpf_ntohs(pdm.psnlr) + 1;
	server = nanoseconds_of(pdm.scale_dtlr, pdm.dtlr);
	reports = pdm.scale_dtls || pdm.dtls;
	now = bpf_ktime_get_ns();
	bpf_spin_lock(&set->lock);
	flow = flow_of(set, &key, tag_of(hash), now);
	copies = flow->duplicates;
	if (!flow->first_seen)
		flow->first_seen = now;
	follow(flow, bpf_ntohs(pdm.psntp), reports);
	if (flow->time_sent && now >= flow->time_sent) {
		flow->last_sent_delta = now - flow->time_sent;
		sampled = answered == flow->psn_next && server <= flow->last_sent_delta && flow->duplicates == copies;
	}
	round_trip = flow->last_sent_delta;
	flow->time_received = now;
	flow->psn_received = bpf_ntohs(pdm.psntp);
	if (sampled) {
		add(&flow->round_trip, round_trip, !flow->samples);
		add(&flow->server, server, !flow->samples);
		add(&flow->network, round_trip - server, !flow->samples);
		flow->samples++;
	}
	bpf_spin_unlock(&set->lock);
	count(READ);
	if (sampled) {
		tally(ROUND_TRIP, round_trip);
		tally(SERVER, server);
		tally(NETWORK, round_trip - server);
	}

	if (config.leave || !take(skb, pdm.next_header, payload))
		return NEXT;
	// Where a device summed the packet up the sum follows; the kernel has taken the option out of it.
	bpf_csum_update(skb, (__u16)~bpf_htons(PDM_BYTES) + (__u16)~bpf_htons(DESTINATION_OPTIONS << 8) +
			     bpf_htons(pdm.next_header << 8));
	count(REMOVED);
	return NEXT;
}
