// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, with answers to what it refuses.

#define ANSWERS
#include "../../../programs/url_firewall/url_firewall.p4"
