// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, which lets no client have keys for encrypted ClientHellos.

#define ANSWERS
#define STRIP_ECH
#include "../../../programs/url_firewall/url_firewall.p4"
