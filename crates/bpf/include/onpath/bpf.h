/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel's interface to BPF programs, as much of it as generated programs use. The numbers are the
 * kernel's ABI. */
#ifndef ONPATH_BPF_H
#define ONPATH_BPF_H

#include "types.h"

#define __uint(name, value) int(*name)[value]
#define __type(name, value) value *name

enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
    BPF_MAP_TYPE_PERCPU_HASH = 5,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_LPM_TRIE = 11,
    BPF_MAP_TYPE_DEVMAP_HASH = 25,
};

enum {
    BPF_ANY = 0,
    BPF_NOEXIST = 1,
    BPF_F_NO_PREALLOC = 1,
};

#define BPF_F_CURRENT_CPU 0xffffffffull

/* The context of an XDP program. Pointers are 32 bits here and converted by the verifier. */
struct xdp_md {
    u32 data;
    u32 data_end;
    u32 data_meta;
    u32 ingress_ifindex;
    u32 rx_queue_index;
    u32 egress_ifindex;
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) __attribute__((unused)) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
                                         u64 flags) __attribute__((unused)) = (void *)2;
static u64 (*const bpf_ktime_get_ns)(void) __attribute__((unused)) = (void *)5;
static long (*const bpf_perf_event_output)(void *ctx, void *map, u64 flags, void *data,
                                           u64 size) __attribute__((unused)) = (void *)25;
static long (*const bpf_xdp_adjust_head)(struct xdp_md *ctx, int delta) __attribute__((unused)) = (void *)44;
#ifdef ONPATH_OBSERVE
/* For test runs without a network: nothing is sent; user space reads the port that was chosen. */
u32 onpath_observed __attribute__((section(".data.observed"), used));
static inline __attribute__((unused)) long bpf_redirect_map(void *map, u64 key, u64 flags)
{
    (void)map, (void)flags;
    onpath_observed = key;
    return 4; /* XDP_REDIRECT */
}
#else
static long (*const bpf_redirect_map)(void *map, u64 key, u64 flags) __attribute__((unused)) = (void *)51;
#endif
static long (*const bpf_xdp_load_bytes)(struct xdp_md *ctx, u32 offset, void *buf,
                                        u32 len) __attribute__((unused)) = (void *)189;
static long (*const bpf_xdp_store_bytes)(struct xdp_md *ctx, u32 offset, void *buf,
                                         u32 len) __attribute__((unused)) = (void *)190;

/* Keeps the compiler from using another register than this one for what was checked of a value, so that
 * the verifier knows what the check proved. */
#define barrier_var(var) asm volatile("" : "+r"(var))

/* 1, which the compiler does not know: it cannot ask again for what the flag stands for, of which the
 * verifier would not see that it is the same. */
static inline __attribute__((always_inline, unused)) u32 flag_set(void)
{
    u32 flag = 1;

    asm("" : "+r"(flag));
    return flag;
}

/* A header that may not be there, behind the question whether it is: keeps the compiler from making the
 * access on other ways as well, with another address. */
static inline __attribute__((always_inline, unused)) u8 *behind_check(u8 *header)
{
    asm volatile("" : "+r"(header));
    return header;
}

/* In a loop: keeps the verifier from forgetting what it knows of a flag when it takes the turns for one. A
 * jump to the next instruction that it has to decide is enough. */
#define stay_known(flag) asm volatile("if %0 == 7 goto +0" : : "r"((u64)(flag)))

/* Sends the packet out of a port; one that the map does not have aborts. In a test run, where nothing goes
 * out, the port is kept for the test to read. */
#ifdef ONPATH_OBSERVE
u32 onpath_observed SEC(".data.observed");
#define redirect_to(map, port) (onpath_observed = (port), 4)
#else
#define redirect_to(map, port) bpf_redirect_map(map, port, 0)
#endif

/* Sends the whole packet to user space, its length as 4 bytes in front. 0, or the error number. */
static inline __attribute__((always_inline, unused)) u32 send_packet_event(struct xdp_md *ctx, void *map,
                                                                           u64 length)
{
    u32 head = length;

    return -bpf_perf_event_output(ctx, map, (u64)head << 32 | BPF_F_CURRENT_CPU, &head, sizeof(head));
}

/* 0, which the verifier does not know: a loop that starts from it is one state to the verifier. */
static inline __attribute__((always_inline, unused)) u64 unknown_zero(struct xdp_md *ctx)
{
    u64 a = ctx->rx_queue_index, b = a;

    asm volatile("%0 -= %1" : "+r"(a) : "r"(b));
    return a;
}

/* At a loop's back edge: goes to `label` when the kernel's patience (some millions of turns) is over. The
 * verifier takes a loop with it in constant effort. */
#ifdef __BPF_FEATURE_MAY_GOTO
#define may_goto(label) asm volatile goto("may_goto %l[" #label "]" : : : : label)
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define may_goto(label)                                                                                      \
    asm volatile goto("1:.byte 0xe5; .byte 0; .long ((%l[" #label "] - 1b - 8) / 8) & 0xffff; .short 0"      \
                      : : : : label)
#else
#define may_goto(label)                                                                                      \
    asm volatile goto("1:.byte 0xe5; .byte 0; .long (((%l[" #label "] - 1b - 8) / 8) & 0xffff) << 16; "      \
                      ".short 0"                                                                             \
                      : : : : label)
#endif

#endif
