// SPDX-License-Identifier: Apache-2.0
//
// Ingress: the option is read and comes off.

#include "read.p4h"

tc(chain(), ingress(), emit_all()) main;
