/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* All that generated programs include, whatever the hook. */
#ifndef ONPATH_H
#define ONPATH_H

#include "arith.h"
#include "bpf.h"
#include "checksum.h"
#include "hash.h"
#include "observe.h"
#include "packet.h"
#include "types.h"
#include "wide.h"

#endif
