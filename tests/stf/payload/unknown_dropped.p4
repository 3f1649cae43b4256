// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, which drops what it cannot follow or read.

#define DROP_UNKNOWN
#include "../../../programs/url_firewall/url_firewall.p4"
