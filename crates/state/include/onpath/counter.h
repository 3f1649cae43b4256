/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Counters of packets and of their bytes. */
#ifndef ONPATH_COUNTER_H
#define ONPATH_COUNTER_H

#include "types.h"

/* Element of a counter of packets and bytes. */
struct packet_count {
    u64 packets;
    u64 bytes;
};

#endif
