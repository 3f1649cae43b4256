// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, with groups of sources.

#define GROUPS
#include "../../../programs/url_firewall/url_firewall.p4"
