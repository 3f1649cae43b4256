/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* A program in several, of which each goes on where another one stopped. What lasts is in memory. */
#ifndef ONPATH_PROGRAMS_H
#define ONPATH_PROGRAMS_H

#include "bpf.h"

/* Lets another program go on with the packet. It returns only where the kernel does not do that. */
static long (*const bpf_tail_call)(void *ctx, void *programs, u32 number) __attribute__((unused)) = (void *)12;

#endif
