/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Switch for kernels without bpf_cast_to_kern_ctx: the kernel's own structures are read by bpf_probe_read_kernel. */
#define ONPATH_READ_KERNEL 1
