/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* A program's inputs beside its packet: time, random numbers, the processor. A test run gives them and reads
 * what became of the packet, so that the kernel and the reference interpreter agree bit for bit. */
#ifndef ONPATH_OBSERVE_H
#define ONPATH_OBSERVE_H

#include "bpf.h"

static u64 (*const bpf_ktime_get_ns)(void) __attribute__((unused)) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) __attribute__((unused)) = (void *)7;
static u32 (*const bpf_get_smp_processor_id)(void) __attribute__((unused)) = (void *)8;

#ifdef ONPATH_OBSERVE

#define SENT_BACK 2
#define OBSERVED 64 /* how many copies and random numbers there is room for: a power of two */

struct onpath_observed {
    u32 port;             /* where a redirect went */
    u32 redirect_ingress; /* 1 if it went to the port's ingress, SENT_BACK if back where it came from */
    u32 copies;           /* how many copies were made */
    u32 drawn;            /* how many random numbers were drawn */
    u64 now;              /* the clock's time */
    u32 copy[OBSERVED];   /* the ports that copies went to, in order */
    u32 random[OBSERVED]; /* what is drawn, in order */
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

/* The number of the processor that a packet is on: in a test run always the same. */
INLINE u32 this_processor(void)
{
    return 0;
}

/* A packet begins. */
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

/* The same a few milliseconds late, and cheap: bpf_ktime_get_coarse_ns. */
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
