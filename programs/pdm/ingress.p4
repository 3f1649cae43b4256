// SPDX-License-Identifier: Apache-2.0
//
// Ingress: the option is read and comes off.

#define PDM_READS_SYN
#include "read.p4h"

tc(chain(), ingress(), emit_all()) main;
