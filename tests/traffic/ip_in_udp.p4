// SPDX-License-Identifier: Apache-2.0
//
// IP in UDP over IPv6.

#define OVER 6
#define TUNNEL IP_IN_UDP

#include "tunnel.p4h"
