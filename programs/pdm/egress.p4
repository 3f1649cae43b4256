// SPDX-License-Identifier: Apache-2.0
//
// Egress: inserts the option.

#define PDM_IS_RARE @rare
#include "mark.p4h"

tc(chain(), egress(), emit_all()) main;
