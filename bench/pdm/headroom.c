// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// The cost that no program avoids: it inserts the bytes of the option into every outgoing packet and removes them from every
// incoming one. It keeps no state, reads no clock, counts nothing, and the option carries no data.
#include "pdm.h"

SEC("tc") int headroom_egress(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u16 payload;
	__u8 protocol;

	if (data + SHORTEST > end || *(__be16 *)(data + TYPE) != TYPE_IPV6)
		return NEXT;
	protocol = *(__u8 *)(data + NEXT_HEADER);
	if (protocol != TCP && protocol != UDP)
		return NEXT;
	payload = bpf_ntohs(*(__be16 *)(data + PAYLOAD_LENGTH));
	if (bpf_skb_adjust_room(skb, PDM_BYTES, BPF_ADJ_ROOM_NET, MAKE_ROOM))
		return NEXT;
	put(skb,
	    (struct pdm){
		    .next_header = protocol,
		    .length = 1,
		    .type = PDM_TYPE,
		    .option_length = PDM_LENGTH,
		    .padding = { PADN, 0 },
	    },
	    payload);
	return NEXT;
}

SEC("tc") int headroom_ingress(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (data + SHORTEST + PDM_BYTES > end || *(__be16 *)(data + TYPE) != TYPE_IPV6 ||
	    *(__u8 *)(data + NEXT_HEADER) != DESTINATION_OPTIONS)
		return NEXT;
	take(skb, *(__u8 *)(data + TRANSPORT), bpf_ntohs(*(__be16 *)(data + PAYLOAD_LENGTH)));
	return NEXT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
