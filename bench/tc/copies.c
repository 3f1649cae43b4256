// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// As many copies of a packet as its EtherType says, each with a number of its own in the destination address: the hand-written form,
// which writes it into the packet and clones that where it leaves.
#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))
#define TC_DROP 2
#define MOST 64

static void *(*const look_up)(void *map, const void *key) = (void *)1;
static long (*const store_bytes)(struct __sk_buff *skb, __u32 offset, const void *from, __u32 len,
				 __u64 flags) = (void *)9;
static long (*const clone_redirect)(struct __sk_buff *skb, __u32 ifindex, __u64 flags) = (void *)13;

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	__u32 *key;
	__u32 *value;
} out SEC(".maps");

SEC("tc")
int copies(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u32 zero = 0, *interface = look_up(&out, &zero);
	__u32 count;

	if (!interface || data + 14 > end)
		return TC_DROP;
	count = *(__u8 *)(data + 13);
	for (__u32 i = 0; i < MOST && i < count; i++) {
		__u16 number = __builtin_bswap16(i);

		store_bytes(skb, 4, &number, sizeof(number), 0);
		clone_redirect(skb, *interface, 0);
	}
	return TC_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
