/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Kernel's own packet structure at traffic control, with the fields that are needed. The loader relocates their
 * offsets. */
#ifndef ONPATH_KERNEL_PACKET_H
#define ONPATH_KERNEL_PACKET_H

#include "bpf.h"

struct net_device___onpath {
    const u8 *dev_addr;
} __attribute__((preserve_access_index));

struct sk_buff___onpath {
    struct net_device___onpath *dev;
    u8 ip_summed : 2;
} __attribute__((preserve_access_index));

static long (*const bpf_probe_read_kernel)(void *to, u32 size,
                                           const void *from) __attribute__((unused)) = (void *)113;

#ifdef ONPATH_READ_KERNEL
/* For kernels whose verifier follows no pointer to the kernel's packet structure: the context is such a pointer. */
#define kernel_packet(ctx) ((void *)(ctx))
#else
extern void *bpf_cast_to_kern_ctx(void *ctx) __attribute__((section(".ksyms")));

#define kernel_packet(ctx) bpf_cast_to_kern_ctx(ctx)
#endif

#endif
