/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* For kernels without bpf_cast_to_kern_ctx: what is the kernel's own is read by bpf_probe_read_kernel. */
#define ONPATH_READ_KERNEL 1
