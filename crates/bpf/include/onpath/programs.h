/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Program split into several programs, chained by tail calls. State that lasts across them is kept in maps. */
#ifndef ONPATH_PROGRAMS_H
#define ONPATH_PROGRAMS_H

#include "bpf.h"

/* Continues with another program. It returns only if the kernel refuses the tail call. */
static long (*const bpf_tail_call)(void *ctx, void *programs, u32 number) __attribute__((unused)) = (void *)12;

#endif
