/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Definitions shared by all searches of tables. Before it the target defines `map_find`, `zero_after`, `masked_by`
 * and `barrier_var`, and has a header `seeds.h` with `hash_seeds` (crate `tables`). */
#ifndef ONPATH_TABLES_H
#define ONPATH_TABLES_H

#include "types.h"

/* Result if there is no entry: no map has an element with this number. */
#define NO_ENTRY 0xffffffffu

#endif
