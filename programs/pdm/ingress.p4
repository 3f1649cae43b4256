// SPDX-License-Identifier: Apache-2.0
//
// Ingress: reads and removes the option.

#define PDM_READS_SYN
#include "read.p4h"

tc(chain(), ingress(), emit_all()) main;
