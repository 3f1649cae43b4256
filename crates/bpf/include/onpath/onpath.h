/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Headers that all generated programs include, at any hook. */
#ifndef ONPATH_H
#define ONPATH_H

#include "bpf.h"
#include "memory.h"
#include "observe.h"

#include "arith.h"
#include "checksum.h"
#include "counter.h"
#include "digest.h"
#include "hash.h"
#include "packet.h"
#include "random.h"
#include "types.h"
#include "wide.h"

#endif
