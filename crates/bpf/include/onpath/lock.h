/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Locks in the values of maps. */
#ifndef ONPATH_LOCK_H
#define ONPATH_LOCK_H

#include "types.h"

/* The name is the kernel's, which recognises the lock in a map's value by it. */
struct bpf_spin_lock {
    u32 val;
};

static long (*const bpf_spin_lock)(struct bpf_spin_lock *lock) __attribute__((unused)) = (void *)93;
static long (*const bpf_spin_unlock)(struct bpf_spin_lock *lock) __attribute__((unused)) = (void *)94;

#endif
