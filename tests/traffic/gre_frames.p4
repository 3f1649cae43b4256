// SPDX-License-Identifier: Apache-2.0
//
// Ethernet frames in GRE over IPv6.

#define OVER 6
#define TUNNEL GRE_FRAMES

#include "tunnel.p4h"
