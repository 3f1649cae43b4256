// SPDX-License-Identifier: Apache-2.0
//
// GRE over IPv4.

#define OVER 4
#define TUNNEL GRE

#include "tunnel.p4h"
