/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Memory that outlives packets, under names that are common to the headers of all targets. */
#ifndef ONPATH_MEMORY_H
#define ONPATH_MEMORY_H

#include "bpf.h"
#include "lock.h"

#define map_find bpf_map_lookup_elem
#define ring_reserve(ring, size) bpf_ringbuf_reserve(ring, size, 0)

/* The kernel recognises the lock in a map's value by the struct's name. */
#define VALUE_LOCK struct bpf_spin_lock
#define take_lock bpf_spin_lock
#define give_lock_back bpf_spin_unlock

/* Read-only data that user space sets before the kernel freezes it. */
#define SET_AT_LOADING SEC(".rodata.onpath")

#endif
