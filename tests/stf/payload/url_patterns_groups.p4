// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, with rules for URLs and groups of sources.

#define GROUPS
#define PATTERNS
#include "../../../programs/url_firewall/url_firewall.p4"
