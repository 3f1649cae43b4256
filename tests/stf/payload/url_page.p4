// SPDX-License-Identifier: Apache-2.0
//
// The firewall by names, which answers blocked requests of HTTP with "HTTP/1.1 403 No." and an empty line.

#define ANSWERS
#define PAGE_BYTES 20
#define PAGE_TEXT 0x485454502f312e3120343033204e6f2e0d0a0d0a
#define PAGE_SUM 127997
#include "../../../programs/url_firewall/url_firewall.p4"
