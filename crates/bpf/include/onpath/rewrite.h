/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What programs at traffic control that change packets include besides, after the map of struct packet_work that is
 * called `packet_work`. */
#ifndef ONPATH_REWRITE_H
#define ONPATH_REWRITE_H

#include "resize.h"
#include "checksum_complete.h"
#ifdef ONPATH_TRAFFIC_H
#include "cut.h"
#endif

#endif
