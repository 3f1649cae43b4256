/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Secret seeds of this loading. The loader draws and sets them before the program is loaded. */
#ifndef ONPATH_SEEDS_H
#define ONPATH_SEEDS_H

#include "types.h"

struct hash_seeds {
    u64 key[2];  /* key of the hash of keys that packets insert */
    u64 buckets; /* seed of the hash of tables, into which the control plane inserts */
};

const volatile struct hash_seeds hash_seeds SET_AT_LOADING = {0};

#endif
