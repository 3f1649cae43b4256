/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What all searches of tables have in common. The target defines before it `map_find`, `zero_after` and `masked_by`, and has a header
 * `seeds.h` with `hash_seeds` (crate `tables`). */
#ifndef ONPATH_TABLES_H
#define ONPATH_TABLES_H

#include "types.h"

/* Where no entry is: no map has an element of this number. */
#define NO_ENTRY 0xffffffffu

#endif
