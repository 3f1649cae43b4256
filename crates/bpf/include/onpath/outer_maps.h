/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Maps in an array of maps: a program uses the array only, and may have more maps than the kernel lets it use. */
#ifndef ONPATH_OUTER_MAPS_H
#define ONPATH_OUTER_MAPS_H

#include "bpf.h"

/* The value of an inner map at a key, or a null pointer. */
INLINE void *look_up_inside(void *outer, u32 number, const void *key)
{
    void *map = bpf_map_lookup_elem(outer, &number);

    return map ? bpf_map_lookup_elem(map, key) : NULL;
}

#endif
