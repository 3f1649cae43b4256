/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Subset of the kernel's BPF interface that generated programs use at any hook. The numbers are the kernel's ABI. */
#ifndef ONPATH_BPF_H
#define ONPATH_BPF_H

#include "types.h"

#define SEC(name) __attribute__((section(name), used))
/* Attribute of a packet's context. The verifier accepts an access to a context member only at a constant offset
 * from the context's start. Compilers merge accesses to two members into one access at a computed address, unless
 * an attribute forbids it. clang has that attribute from version 18 on. For earlier ones each access is inline
 * assembly, which they do not optimise. */
#if __has_attribute(preserve_static_offset)
#define CONTEXT __attribute__((preserve_static_offset))
#define context_get(ctx, member) ((ctx)->member)
#define context_set(ctx, member, value) ((ctx)->member = (value))
#define context_pointer(ctx, member) ((u8 *)(long)(ctx)->member)
#else
#define CONTEXT
/* Value of a context member, as `type`. All members that are used have 32 bits. */
#define context_load(type, ctx, member)                                                                      \
    ({                                                                                                       \
        type value_;                                                                                         \
        _Static_assert(sizeof((ctx)->member) == 4, "the instruction loads 32 bits");                         \
        asm volatile("%0 = *(u32 *)(%1 + %2)"                                                                \
                     : "=r"(value_)                                                                          \
                     : "r"(ctx), "i"(__builtin_offsetof(typeof(*(ctx)), member)), "m"(*(ctx)));              \
        value_;                                                                                              \
    })
#define context_get(ctx, member) context_load(u32, ctx, member)
#define context_set(ctx, member, value)                                                                      \
    ({                                                                                                       \
        _Static_assert(sizeof((ctx)->member) == 4, "the instruction stores 32 bits");                        \
        asm volatile("*(u32 *)(%1 + %2) = %3"                                                                \
                     : "+m"(*(ctx))                                                                          \
                     : "r"(ctx), "i"(__builtin_offsetof(typeof(*(ctx)), member)), "r"((u32)(value)));        \
    })
#define context_pointer(ctx, member) ((u8 *)context_load(u64, ctx, member))
#endif

/* Global function: the verifier checks it once, for any arguments. */
#define GLOBAL_FUNC __attribute__((noinline, weak))

/* Static function: the verifier checks it at each call, with the values that the caller has. */
#define STATIC_FUNC static __attribute__((noinline, unused))

#define __uint(name, value) int(*name)[value]
#define __type(name, value) value *name
/* Initial elements of a map: inner maps, or programs. */
#define __array(name, element) typeof(element) *name[]

enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PROG_ARRAY = 3,
    BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
    BPF_MAP_TYPE_PERCPU_HASH = 5,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_LRU_HASH = 9,
    BPF_MAP_TYPE_LPM_TRIE = 11,
    BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
    BPF_MAP_TYPE_DEVMAP_HASH = 25,
    BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
    BPF_ANY = 0,
    BPF_NOEXIST = 1,
    BPF_F_NO_PREALLOC = 1,
    BPF_F_MMAPABLE = 1024,
};

#define BPF_F_CURRENT_CPU 0xffffffffull

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) __attribute__((unused)) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
                                         u64 flags) __attribute__((unused)) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) __attribute__((unused)) = (void *)3;
static long (*const bpf_loop)(u32 turns, void *turn, void *with,
                              u64 flags) __attribute__((unused)) = (void *)181;
/* Calls a function with each number below `count` until it does not return 0. */
#define run_turns(count, turn, with) bpf_loop(count, turn, with, 0)
/* Bytes at the packet's front that keep their own offsets when they are copied to memory. */
#define GATHERED_FRONT 2048

static long (*const bpf_perf_event_output)(void *ctx, void *map, u64 flags, void *data,
                                           u64 size) __attribute__((unused)) = (void *)25;

static s64 (*const bpf_csum_diff)(void *from, u32 from_size, void *to, u32 to_size,
                                  u32 seed) __attribute__((unused)) = (void *)28;

static void *(*const bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) __attribute__((unused)) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *record, u64 flags) __attribute__((unused)) = (void *)132;

/* Returns 0, computed from `number`. A load whose address includes it depends on `number`, so the processor
 * performs it after `number` is known. */
INLINE u64 zero_after(u64 number)
{
    asm volatile("%0 &= 0" : "+r"(number));
    return number;
}

/* Returns a number under a mask, such that the verifier knows its upper bound, even if the number is spilled to
 * the stack. */
INLINE u64 masked_by(u64 number, u64 mask)
{
    asm volatile("%0 &= %1" : "+r"(number) : "r"(mask));
    return number;
}

/* Keeps the compiler from using a register other than the one that was checked, so that the verifier knows the
 * result of the check. */
#define barrier_var(var) asm volatile("" : "+r"(var))

/* Clears the registers of arguments, but for the first one. It stands before a call of a function with fewer. */
#define clear_arguments() asm volatile("w2 = 0; w3 = 0; w4 = 0; w5 = 0" ::: "r2", "r3", "r4", "r5")

/* Makes the compiler load values from memory again. For a value kept in a register, the verifier would know on
 * which path it was stored. */
#define load_memory_again() asm volatile("" ::: "memory")

/* Marks a join of paths: the verifier saves its state there, and prunes later paths that arrive in the same state.
 * It saves states at jump targets, once several instructions with jumps have passed. These jumps go to the next
 * instruction, and the kernel removes them. */
#define paths_meet() asm volatile("goto +0; goto +0; goto +0; goto +0")

/* Marks the start of a loop whose iterations the verifier follows one by one: it saves its state in each
 * iteration. In a loop it does so only after twenty jumps. */
#define turn_begins()                                                                                        \
    do {                                                                                                     \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
    } while (0)

/* Makes the verifier forget all that it knows of a 64-bit number, on kernels before Linux 6.9, whose verifiers
 * follow each iteration. The value does not change. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define forget_value(number) asm volatile("%0 = le64 %0" : "+r"(number))
#else
#define forget_value(number) asm volatile("%0 = be64 %0" : "+r"(number))
#endif

/* Returns 1, which the compiler does not know. It keeps the compiler from testing again the condition that the
 * flag records: the verifier would not see that the second test has the same result. */
static inline __attribute__((always_inline, unused)) u32 flag_set(void)
{
    u32 flag = 1;

    asm("" : "+r"(flag));
    return flag;
}

/* Jumps to `label` if the packet ends before `end`. The compiler must not repeat this comparison in code that both
 * branches reach. The verifier would then also follow the impossible branch, where it rejects access to bytes that
 * were already checked. The jump in assembly leaves the compiler no value to compare again. */
#define goto_if_short(end, data_end, label)                                                                  \
    asm volatile goto("if %0 > %1 goto %l[" #label "]" : : "r"(end), "r"(data_end) : : label)

/* Returns the address of a header that may be invalid, after the check of its validity. It keeps the compiler from
 * hoisting the access to other paths, with another address. */
static inline __attribute__((always_inline, unused)) u8 *behind_check(u8 *header)
{
    asm volatile("" : "+r"(header));
    return header;
}

/* In a loop, keeps the verifier from forgetting a flag's value when it merges iterations. A conditional jump to
 * the next instruction, which depends on the flag, is enough. */
#define stay_known(flag) asm volatile("if %0 == 7 goto +0" : : "r"((u64)(flag)))

/* The instruction `may_goto`. */
#ifdef __BPF_FEATURE_MAY_GOTO
#define MAY_GOTO(label) "may_goto %l[" #label "]"
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MAY_GOTO(label) "1:.byte 0xe5; .byte 0; .long ((%l[" #label "] - 1b - 8) / 8) & 0xffff; .short 0"
#else
#define MAY_GOTO(label) "1:.byte 0xe5; .byte 0; .long (((%l[" #label "] - 1b - 8) / 8) & 0xffff) << 16; .short 0"
#endif

/* Jumps to `label`, at a loop's back edge, once the kernel's limit of some millions of iterations is reached. The
 * verifier checks a loop that has this instruction in constant effort. */
#define may_goto(label) asm volatile goto(MAY_GOTO(label) : : : : label)

/* Variant of `may_goto` for a loop with a long body, after which no caller-saved register is live: it clears them.
 * Before Linux 6.15 the verifier also compares dead registers of an iteration with earlier ones, and would follow
 * each combination of their values. */
#define may_goto_afresh(label)                                                                               \
    asm volatile goto("w0 = 0; w1 = 0; w2 = 0; w3 = 0; w4 = 0; w5 = 0; " MAY_GOTO(label)                     \
                      : : : "r0", "r1", "r2", "r3", "r4", "r5" : label)

/* Counts an iteration at a back edge, for kernels without may_goto, whose verifiers follow each iteration. Many of
 * them report an infinite loop if an iteration has the same registers as an earlier one, whatever is on the stack. */
#define count_turn(turns) asm volatile("%0 += 1" : "+r"(turns))

/* Makes the verifier forget the bounds of a number of 32 or 64 bits in each iteration of a loop, except for which
 * bits may be set. Swapping the bytes makes it forget the rest, and swapping them twice leaves the value
 * unchanged. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define forget_bounds(number) asm volatile("%0 = be32 %0; %0 = be32 %0" : "+r"(number))
#define forget_wide_bounds(number) asm volatile("%0 = be64 %0; %0 = be64 %0" : "+r"(number))
#else
#define forget_bounds(number) asm volatile("%0 = le32 %0; %0 = le32 %0" : "+r"(number))
#define forget_wide_bounds(number) asm volatile("%0 = le64 %0; %0 = le64 %0" : "+r"(number))
#endif

/* Makes the verifier forget a 32-bit number even if it is a constant, which byte swaps would leave known.
 * `unknown` is a number that the verifier does not know. */
#define forget_constant(number, unknown) asm volatile("%0 ^= %1; %0 ^= %1" : "+r"(number) : "r"(unknown))

/* Subtracts a value from itself such that neither clang nor the verifier knows that the result is 0. */
INLINE u64 less_itself(u64 value)
{
    u64 same = value;

    asm volatile("%0 -= %1" : "+r"(value) : "r"(same));
    return value;
}

/* Returns 0, which the verifier does not know, for loops with may_goto. The packet's start is in a register already,
 * so this costs no load. A verifier that follows each iteration takes twice as long with it as with unknown_zero. */
#define unknown_zero_at_once(ctx) less_itself((u64)(long)context_pointer(ctx, data))

/* 64 unpredictable bits. */
#define unforeseen() ((u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32())

#endif
