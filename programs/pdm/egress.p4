// SPDX-License-Identifier: Apache-2.0
//
// Egress: the option goes on.

#include "mark.p4h"

tc(chain(), egress(), emit_all()) main;
