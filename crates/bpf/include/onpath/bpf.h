/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel's interface to BPF programs, as much of it as generated programs use at any hook. The numbers
 * are the kernel's ABI. */
#ifndef ONPATH_BPF_H
#define ONPATH_BPF_H

#include "types.h"

#define SEC(name) __attribute__((section(name), used))
/* A packet's context: the verifier wants each access to a member as an offset from its start. Compilers merge accesses
 * to two members into one whose address they compute, unless an attribute forbids it. clang has it from 18 on; for
 * earlier ones each access is an instruction that they do not look into. */
#if __has_attribute(preserve_static_offset)
#define CONTEXT __attribute__((preserve_static_offset))
#define context_get(ctx, member) ((ctx)->member)
#define context_set(ctx, member, value) ((ctx)->member = (value))
#define context_pointer(ctx, member) ((u8 *)(long)(ctx)->member)
#else
#define CONTEXT
/* A member, as a number of `type`. All that are used have 32 bits. */
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

/* A global function: the verifier checks it once, whatever its callers pass. */
#define GLOBAL_FUNC __attribute__((noinline, weak))

/* A static function: the verifier checks it at each call, with the values that the caller has. */
#define STATIC_FUNC static __attribute__((noinline, unused))

#define __uint(name, value) int(*name)[value]
#define __type(name, value) value *name
/* What is in a map from the start: inner maps, or programs. */
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
/* Bytes of the packet's front that are kept in memory, where they are. */
#define GATHERED_FRONT 2048

static long (*const bpf_perf_event_output)(void *ctx, void *map, u64 flags, void *data,
                                           u64 size) __attribute__((unused)) = (void *)25;

static s64 (*const bpf_csum_diff)(void *from, u32 from_size, void *to, u32 to_size,
                                  u32 seed) __attribute__((unused)) = (void *)28;

static void *(*const bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) __attribute__((unused)) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *record, u64 flags) __attribute__((unused)) = (void *)132;

/* 0, which no processor knows before it knows a number: what is at an address with it is read later than the number. */
INLINE u64 zero_after(u64 number)
{
    asm volatile("%0 &= 0" : "+r"(number));
    return number;
}

/* A number under a mask, of which the verifier sees that it is not larger, also where it is kept on the stack. */
INLINE u64 masked_by(u64 number, u64 mask)
{
    asm volatile("%0 &= %1" : "+r"(number) : "r"(mask));
    return number;
}

/* Keeps the compiler from using another register than this one for what was checked of a value, so that
 * the verifier knows what the check proved. */
#define barrier_var(var) asm volatile("" : "+r"(var))

/* Has the compiler load again what is in memory: of what it keeps in registers, the verifier would know on which
 * path it was stored. */
#define load_memory_again() asm volatile("" ::: "memory")

/* Where paths meet: has the verifier note its state, so that it does not follow those that come with the same. It
 * does so at a jump's target, after several instructions with jumps. These lead nowhere, and the kernel removes them. */
#define paths_meet() asm volatile("goto +0; goto +0; goto +0; goto +0")

/* At the start of a loop whose turns the verifier counts: has it note its state in each turn. In loops it does so after
 * twenty jumps, not before. */
#define turn_begins()                                                                                        \
    do {                                                                                                     \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
        paths_meet();                                                                                        \
    } while (0)

/* Has verifiers that follow turns, those before Linux 6.9, know nothing of a number of 64 bits. It stays what it is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define forget_value(number) asm volatile("%0 = le64 %0" : "+r"(number))
#else
#define forget_value(number) asm volatile("%0 = be64 %0" : "+r"(number))
#endif

/* 1, which the compiler does not know: it cannot ask again for what the flag stands for, of which the
 * verifier would not see that it is the same. */
static inline __attribute__((always_inline, unused)) u32 flag_set(void)
{
    u32 flag = 1;

    asm("" : "+r"(flag));
    return flag;
}

/* Goes to `label` if the packet ends before `end`. Code that both sides lead to must not ask it again: the verifier would
 * follow the answer that is not so, where it lets nobody read what it found to be there. This leaves the compiler no
 * value to ask for. */
#define goto_if_short(end, data_end, label)                                                                  \
    asm volatile goto("if %0 > %1 goto %l[" #label "]" : : "r"(end), "r"(data_end) : : label)

/* A header that may be invalid, after the check of its validity: keeps the compiler from making the
 * access on other paths as well, with another address. */
static inline __attribute__((always_inline, unused)) u8 *behind_check(u8 *header)
{
    asm volatile("" : "+r"(header));
    return header;
}

/* In a loop: keeps the verifier from discarding what it knows about a flag when it merges iterations. A
 * jump to the next instruction that it has to decide is enough. */
#define stay_known(flag) asm volatile("if %0 == 7 goto +0" : : "r"((u64)(flag)))

/* The instruction `may_goto`. */
#ifdef __BPF_FEATURE_MAY_GOTO
#define MAY_GOTO(label) "may_goto %l[" #label "]"
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MAY_GOTO(label) "1:.byte 0xe5; .byte 0; .long ((%l[" #label "] - 1b - 8) / 8) & 0xffff; .short 0"
#else
#define MAY_GOTO(label) "1:.byte 0xe5; .byte 0; .long (((%l[" #label "] - 1b - 8) / 8) & 0xffff) << 16; .short 0"
#endif

/* At a loop's back edge: goes to `label` when the kernel's patience (some millions of iterations) is over. The
 * verifier takes a loop with it in constant effort. */
#define may_goto(label) asm volatile goto(MAY_GOTO(label) : : : : label)

/* The same in a loop of many steps, after which none of the registers that calls may change has what they left in it. Before Linux 6.15 a verifier compares a
 * turn with earlier ones by what nobody reads any more, too: it would follow each mixture of that. */
#define may_goto_afresh(label)                                                                               \
    asm volatile goto("w0 = 0; w1 = 0; w2 = 0; w3 = 0; w4 = 0; w5 = 0; " MAY_GOTO(label)                     \
                      : : : "r0", "r1", "r2", "r3", "r4", "r5" : label)

/* At a back edge, for kernels without may_goto: the verifier follows each turn. Of one whose registers are those of an
 * earlier turn many believe that the loop has no end, whatever is on the stack. */
#define count_turn(turns) asm volatile("%0 += 1" : "+r"(turns))

/* Has the verifier know less of a number of 32 bits, at each turn of a loop: no more than which bits may be set, and of one of 64. Swapping its bytes
 * makes it forget the rest, and doing so twice changes nothing. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define forget_bounds(number) asm volatile("%0 = be32 %0; %0 = be32 %0" : "+r"(number))
#define forget_wide_bounds(number) asm volatile("%0 = be64 %0; %0 = be64 %0" : "+r"(number))
#else
#define forget_bounds(number) asm volatile("%0 = le32 %0; %0 = le32 %0" : "+r"(number))
#define forget_wide_bounds(number) asm volatile("%0 = le64 %0; %0 = le64 %0" : "+r"(number))
#endif

/* Has it know nothing of a number of 32 bits, not even that it is a constant, which swapped bytes leave known: `unknown` is one of which it knows nothing. */
#define forget_constant(number, unknown) asm volatile("%0 ^= %1; %0 ^= %1" : "+r"(number) : "r"(unknown))

/* 64 bits that nobody can foresee. */
#define unforeseen() ((u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32())

#endif
