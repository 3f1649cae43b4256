// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, which judges where responses of DNS lead.

#define READ_ALIASES
#include "../../../programs/url_firewall/url_firewall.p4"
