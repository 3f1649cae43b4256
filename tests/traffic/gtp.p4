// SPDX-License-Identifier: Apache-2.0
//
// GTP-U over IPv4, whose header has a length: behind it the kernel segments nothing.

#define OVER 4
#define TUNNEL GTP

#include "tunnel.p4h"
