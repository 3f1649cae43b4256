// SPDX-License-Identifier: Apache-2.0
//
// Patterns in sets: in the URL of an HTTP request, and in the name of a DNS query.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

const bit<16> DNS = 0x1234;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header report_t {
    bit<8>  found;
    bit<32> prefix;
    bit<32> prefix_lists;
    bit<32> number;
    bit<32> lists;
}

struct headers_t {
    report_t   report;
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control reads(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    message("dns") dns;
    message("http", 4096) http;
    pattern_set(64) patterns;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<32> prefix = 7;
        bit<32> prefix_lists = 0;
        bit<32> number = 7;
        bit<32> lists = 7;
        bool found = false;
        if (hdr.eth.type == DNS) {
            dns.read(0);
            found = dns.find_pattern("qname", patterns, number, lists);
        } else {
            http.read(0);
            found = http.find_url(patterns, prefix, prefix_lists, number, lists);
        }
        hdr.report.setValid();
        hdr.report = { found ? 8w1 : 0, prefix, prefix_lists, number, lists };
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), dep()) main;
