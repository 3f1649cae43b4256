/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Maps in an array of maps. The program refers to the array only, and can thus have more maps than the kernel lets
 * a program use. */
#ifndef ONPATH_OUTER_MAPS_H
#define ONPATH_OUTER_MAPS_H

#include "bpf.h"

/* Returns the value of an inner map at a key, or a null pointer. */
INLINE void *look_up_inside(void *outer, u32 number, const void *key)
{
    void *map = bpf_map_lookup_elem(outer, &number);

    return map ? bpf_map_lookup_elem(map, key) : NULL;
}

#endif
