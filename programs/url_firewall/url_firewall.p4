// SPDX-License-Identifier: Apache-2.0
//
// Blocks sites by name: of a DNS query, of a TLS server, of an HTTP host. A rule is on list 1, which blocks, or on list 2, which allows; of
// those that cover a name, the one with the longest name decides.

#include <ebpf_model.p4>
#include <packet_headers.p4>
#include <payload.p4>

// Most rules; another file may define it and include this one.
#ifndef MOST_RULES
#define MOST_RULES 100000
#endif

const bit<16> PORT_DNS = 53;
const bit<16> PORT_HTTP = 80;
const bit<16> PORT_TLS = 443;

const bit<32> BLOCKS = 1;
const bit<32> ALLOWS = 2;

// Indices of the counters.
const bit<32> BLOCKED_DNS = 0;
const bit<32> BLOCKED_HTTP = 1;
const bit<32> BLOCKED_TLS = 2;
const bit<32> ALLOWED = 3;

control firewall(inout packet_headers hdr, out bool pass) {
    name_set(MOST_RULES) names;
    message("dns") dns;
    message("http") http;
    message("tls") tls;
    CounterArray(4, false) counts;

    apply {
        bit<32> rule;
        bit<32> lists = 0;
        bit<32> blocked = BLOCKED_DNS;
        if (hdr.udp.isValid() && hdr.udp.dst_port == PORT_DNS) {
            if (dns.read_for(0, hdr.payload_bytes, "qname") == message_status.READ) {
                dns.find_name("qname", names, rule, lists);
            }
        } else if (hdr.tcp.isValid() && hdr.tcp.dst_port == PORT_TLS) {
            blocked = BLOCKED_TLS;
            if (tls.read_for(0, hdr.payload_bytes, "sni") == message_status.READ) {
                tls.find_name("sni", names, rule, lists);
            }
        } else if (hdr.tcp.isValid() && hdr.tcp.dst_port == PORT_HTTP) {
            blocked = BLOCKED_HTTP;
            if (http.read_for(0, hdr.payload_bytes, "host") == message_status.READ) {
                http.find_name("host", names, rule, lists);
            }
        }
        pass = lists & ALLOWS != 0 || lists & BLOCKS == 0;
        if (!pass) {
            counts.increment(blocked);
        } else if (lists != 0) {
            counts.increment(ALLOWED);
        }
    }
}

ebpfFilter(packet_parser(), firewall()) main;
