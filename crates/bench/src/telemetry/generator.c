// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// A packet generator in the kernel that never sends more than its receivers take: run by BPF_PROG_TEST_RUN with live frames, it
// redirects a frame to a device as long as few enough are under way, and else drops it, which costs next to nothing.

struct xdp_md {
	unsigned int data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

#define SEC(name) __attribute__((section(name), used))
#define LINE __attribute__((aligned(64)))

static long (*const bpf_redirect)(unsigned int ifindex, unsigned long long flags) = (void *)23;

/* Each processor writes lines of its own. */
struct {
	/* written before the packets are sent */
	unsigned int ifindex;
	unsigned int stop;
	unsigned long long most;        /* how many may be under way to the socket */
	unsigned long long few;         /* only when no more are left, the next ones are sent */
	unsigned long long most_copied; /* how many may be under way to who copies them */
	/* written here */
	unsigned long long sent LINE;
	unsigned long long waits;
	/* written by the receivers */
	unsigned long long received LINE;
	unsigned long long copied LINE;
} flow SEC(".data.flow");

SEC("xdp") int generate(struct xdp_md *ctx)
{
	volatile typeof(flow) *now = &flow;
	unsigned long long sent = now->sent, left = sent - now->received;

	if (left >= now->most)
		now->waits = 1;
	else if (left <= now->few)
		now->waits = 0;
	if (now->stop || now->waits || sent - now->copied >= now->most_copied)
		return 1; /* XDP_DROP */
	now->sent = sent + 1;
	return bpf_redirect(now->ifindex, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
