// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// A packet generator in the kernel: run by BPF_PROG_TEST_RUN with live frames, it writes the packet anew (frames
// are used again, and the program under test may have changed them) and redirects it to a device.

struct xdp_md {
	unsigned int data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

#define SEC(name) __attribute__((section(name), used))
#define WORDS 16

static long (*const bpf_redirect)(unsigned int ifindex, unsigned long long flags) = (void *)23;

struct {
	unsigned int ifindex;
	unsigned int words; /* of the packet that are written anew: the first ones, with all headers */
	unsigned long long packet[WORDS];
} job SEC(".data.job");

SEC("xdp") int generate(struct xdp_md *ctx)
{
	unsigned long long *words = (void *)(long)ctx->data;

	for (unsigned int i = 0; i < WORDS; i++, words++) {
		if (i >= ((volatile unsigned int *)&job.words)[0])
			break;
		if ((void *)(words + 1) > (void *)(long)ctx->data_end)
			return 0;
		*words = ((volatile unsigned long long *)job.packet)[i];
	}
	return bpf_redirect(job.ifindex, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
