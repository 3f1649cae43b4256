// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, which reads those of QUIC.

#define READ_QUIC
#define MOST_INITIALS 16
#include "../../../programs/url_firewall/url_firewall.p4"
