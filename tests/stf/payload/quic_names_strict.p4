// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, which reads those of QUIC and drops what it cannot read.

#define DROP_UNKNOWN
#include "quic_names.p4"
