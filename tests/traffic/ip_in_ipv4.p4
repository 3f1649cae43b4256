// SPDX-License-Identifier: Apache-2.0
//
// IP over IPv4.

#define OVER 4
#define TUNNEL IP

#include "tunnel.p4h"
