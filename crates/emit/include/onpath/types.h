/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Integer types and compiler attributes. Nothing but the compiler is needed: no system header. */
#ifndef ONPATH_TYPES_H
#define ONPATH_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

/* Linux' names for the same, which C files of extern functions may use. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u64 __be64;

/* Packet bytes are read and written at any type and at any address. */
typedef u16 __attribute__((may_alias)) any16;
typedef u32 __attribute__((may_alias)) any32;
typedef u64 __attribute__((may_alias)) any64;

#define INLINE_DESCRIBED static inline __attribute__((always_inline, unused))
/* In a long program, inlined code has no debug information of its own and takes the line of its call. Code that
 * accesses types of the system's own needs debug information: INLINE_DESCRIBED always has it. */
#ifdef ONPATH_LONG
#define INLINE static inline __attribute__((always_inline, unused, nodebug))
#else
#define INLINE INLINE_DESCRIBED
#endif
#define NULL ((void *)0)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BE16(x) __builtin_bswap16(x)
#define BE32(x) __builtin_bswap32(x)
#define BE64(x) __builtin_bswap64(x)
#else
#define BE16(x) (x)
#define BE32(x) (x)
#define BE64(x) (x)
#endif

#endif
