// SPDX-License-Identifier: Apache-2.0
//
// VXLAN over IPv4.

#define OVER 4
#define TUNNEL VXLAN

#include "tunnel.p4h"
