// SPDX-License-Identifier: Apache-2.0
//
// Geneve over IPv6.

#define OVER 6
#define TUNNEL GENEVE

#include "tunnel.p4h"
