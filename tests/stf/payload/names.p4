// SPDX-License-Identifier: Apache-2.0
//
// Names in sets: of a DNS query, of an HTTP request, and of bytes behind a header that has their number.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

const bit<16> DNS = 0x1234;
const bit<16> HTTP = 0x1235;
const bit<16> BYTES = 0x1236;
const bit<16> FEW = 0x1237;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header length_t {
    bit<16> bytes;
}

header report_t {
    bit<8>  found;
    bit<32> number;
    bit<32> lists;
}

struct headers_t {
    report_t   report;
    ethernet_t eth;
    length_t   length;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            BYTES: length;
            FEW: length;
            default: accept;
        }
    }
    state length {
        packet.extract(hdr.length);
        transition accept;
    }
}

control reads(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    message("dns") dns;
    message("http") http;
    name_set(1000) names;
    name_set(2) few;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<32> number = 7;
        bit<32> lists = 7;
        bool found = false;
        if (hdr.eth.type == DNS) {
            dns.read(0);
            found = dns.find_name("qname", names, number, lists);
        } else if (hdr.eth.type == HTTP) {
            http.read(0);
            found = http.find_name("host", names, number, lists);
        } else if (hdr.eth.type == BYTES) {
            found = names.find(1, (bit<32>)hdr.length.bytes, number, lists);
        } else {
            // A place may be both an argument and a result.
            number = (bit<32>)hdr.length.bytes;
            lists = 1;
            found = few.find(lists, number, number, lists);
        }
        hdr.report.setValid();
        hdr.report.found = found ? 8w1 : 0;
        hdr.report.number = number;
        hdr.report.lists = lists;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), dep()) main;
