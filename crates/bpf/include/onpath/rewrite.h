/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Headers for tc programs that change packets. They are included after the map `packet_work`, whose value is
 * struct packet_work. */
#ifndef ONPATH_REWRITE_H
#define ONPATH_REWRITE_H

#include "resize.h"
#include "checksum_complete.h"
#ifdef ONPATH_TRAFFIC_H
#include "cut.h"
#endif

#endif
