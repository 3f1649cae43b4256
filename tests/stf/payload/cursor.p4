// SPDX-License-Identifier: Apache-2.0
//
// The payload as bytes: its length, and what stands at an offset that the packet has.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> offset;
}

header report_t {
    bit<32> length;
    bit<8>  has_three;
    bit<24> three;
    bit<8>  has_twelve;
    bit<96> twelve;
    bit<8>  is_host;
    bit<32> crlf;
    bit<32> long;
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
    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<32> offset = (bit<32>)hdr.eth.offset;
        if (hdr.eth.offset == 0xffff) {
            offset = 0xffffffff;
        }
        hdr.report.setValid();
        hdr.report.length = payload_length();
        hdr.report.has_three = payload_read(offset, hdr.report.three) ? 8w1 : 0;
        hdr.report.has_twelve = payload_read(offset, hdr.report.twelve) ? 8w1 : 0;
        // "host:"
        hdr.report.is_host = payload_matches_ignore_case(offset, 40w0x686f73743a) ? 8w1 : 0;
        hdr.report.crlf = payload_find(offset, 16w0x0d0a);
        // "example.com"
        hdr.report.long = payload_find(offset, 88w0x6578616d706c652e636f6d);
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), dep()) main;
