// SPDX-License-Identifier: Apache-2.0
//
// IP over IPv6.

#define OVER 6
#define TUNNEL IP

#include "tunnel.p4h"
