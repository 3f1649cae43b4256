/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Inputs of a program other than its packet: time, random numbers, the processor. A test run sets them, and reads
 * the packet's outcome, so that the kernel and the reference interpreter can be compared bit by bit. */
#ifndef ONPATH_OBSERVE_H
#define ONPATH_OBSERVE_H

#include "bpf.h"

static u64 (*const bpf_ktime_get_ns)(void) __attribute__((unused)) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) __attribute__((unused)) = (void *)7;
static u32 (*const bpf_get_smp_processor_id)(void) __attribute__((unused)) = (void *)8;

#ifdef ONPATH_OBSERVE

#define SENT_BACK 2
#define OBSERVED 64 /* maximum number of copies and of random numbers: a power of two */

struct onpath_observed {
    u32 port;             /* port that a redirect went to */
    u32 redirect_ingress; /* 1 if it went to the port's ingress, SENT_BACK if to the ingress port */
    u32 copies;           /* number of copies made */
    u32 drawn;            /* number of random numbers drawn */
    u64 now;              /* time of the clock */
    u32 copy[OBSERVED];   /* ports of the copies, in order */
    u32 random[OBSERVED]; /* random numbers to draw, in order */
};

struct onpath_observed onpath_observed SEC(".data.observed");

/* Nanoseconds of the monotonic clock. */
INLINE u64 now_ns(void)
{
    return onpath_observed.now;
}

#define flow_now now_ns

INLINE u32 random_u32(void)
{
    return onpath_observed.random[onpath_observed.drawn++ & (OBSERVED - 1)];
}

/* Number of the processor that handles a packet; constant in a test run. */
INLINE u32 this_processor(void)
{
    return 0;
}

/* Resets the observation at the start of a packet. */
INLINE void observe_start(void)
{
    onpath_observed.copies = 0;
    onpath_observed.redirect_ingress = 0;
}

#else

/* Nanoseconds of the monotonic clock. */
INLINE u64 now_ns(void)
{
    return bpf_ktime_get_ns();
}

/* Monotonic clock with a resolution of a few milliseconds, and cheap: bpf_ktime_get_coarse_ns. */
static u64 (*const flow_now)(void) __attribute__((unused)) = (void *)160;

INLINE u32 random_u32(void)
{
    return bpf_get_prandom_u32();
}

INLINE u32 this_processor(void)
{
    return bpf_get_smp_processor_id();
}

INLINE void observe_start(void)
{
}

#endif

#endif
