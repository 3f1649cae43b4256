// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, which judges where responses of DNS lead.

#define READ_ALIASES
#define REFUSE_QUIC
#include "../../../programs/url_firewall/url_firewall.p4"
