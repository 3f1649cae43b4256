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

// Another file may also define COUNT_ONLY: then packets pass that would be blocked, and are counted all the same.
#ifdef COUNT_ONLY
const bool IS_COUNTED_ONLY = true;
#else
const bool IS_COUNTED_ONLY = false;
#endif

const bit<16> PORT_DNS = 53;
const bit<16> PORT_HTTP = 80;
const bit<16> PORT_TLS = 443;

// Of a rule's lists.
const bit<32> BLOCKS = 1;
const bit<32> ALLOWS = 2;

// Messages, as indices of counters.
const bit<32> OF_DNS = 0;
const bit<32> OF_HTTP = 1;
const bit<32> OF_TLS = 2;

control firewall(inout packet_headers hdr, out bool pass) {
    name_set(MOST_RULES) names;
    message("dns") dns;
    message("http") http;
    message("tls") tls;
    // Messages with a name that is blocked, and with one that is allowed.
    CounterArray(4, false) blocked;
    CounterArray(4, false) allowed;
    // Messages whose name could not be read: 16 times the kind of message, and the status of reading it.
    CounterArray(64, false) unread;
    // Messages for which a list decides. The first five bits of a rule's number are that of its list.
    CounterArray(32, false) decided_by;

    apply {
        bit<32> rule = 0;
        bit<32> lists = 0;
        bit<32> kind = OF_DNS;
        bit<8> status = (bit<8>) message_status.OTHER;
        if (hdr.udp.isValid() && hdr.udp.dst_port == PORT_DNS) {
            status = (bit<8>) dns.read_for(0, hdr.payload_bytes, "qname");
            if (status == (bit<8>) message_status.READ) {
                dns.find_name("qname", names, rule, lists);
            }
        } else if (hdr.tcp.isValid() && hdr.tcp.dst_port == PORT_DNS && hdr.payload_bytes > 2) {
            // The length of the message stands before it.
            status = (bit<8>) dns.read_for(2, hdr.payload_bytes - 2, "qname");
            if (status == (bit<8>) message_status.READ) {
                dns.find_name("qname", names, rule, lists);
            }
        } else if (hdr.tcp.isValid() && hdr.tcp.dst_port == PORT_TLS) {
            kind = OF_TLS;
            status = (bit<8>) tls.read_for(0, hdr.payload_bytes, "sni");
            if (status == (bit<8>) message_status.READ) {
                tls.find_name("sni", names, rule, lists);
            }
        } else if (hdr.tcp.isValid() && hdr.tcp.dst_port == PORT_HTTP) {
            kind = OF_HTTP;
            status = (bit<8>) http.read_for(0, hdr.payload_bytes, "host");
            if (status == (bit<8>) message_status.READ) {
                http.find_name("host", names, rule, lists);
            }
        }
        pass = true;
        if (lists != 0) {
            decided_by.increment((bit<32>) rule[31:27]);
            if (lists & ALLOWS != 0) {
                allowed.increment(kind);
            } else if (lists & BLOCKS != 0) {
                blocked.increment(kind);
                pass = IS_COUNTED_ONLY;
            }
        } else if (status > (bit<8>) message_status.OTHER) {
            unread.increment(16 * kind + (bit<32>) status);
        }
    }
}

ebpfFilter(packet_parser(), firewall()) main;
