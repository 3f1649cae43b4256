/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The secrets of this loading, which the loader draws and sets before the program is loaded: outsiders do not know them. */
#ifndef ONPATH_SEEDS_H
#define ONPATH_SEEDS_H

#include "types.h"

struct hash_seeds {
    u64 key[2];  /* of the hash of keys that packets insert */
    u64 buckets; /* of the hash of tables, into which the control plane inserts */
};

const volatile struct hash_seeds hash_seeds SET_AT_LOADING = {0};

#endif
