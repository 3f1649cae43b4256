// SPDX-License-Identifier: Apache-2.0
//
// DNS messages behind the Ethernet header, read for some of their attributes: what became of reading, in front of the packet.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header report_t {
    message_status whole;
    message_status for_id;
    message_status for_name;
    message_status for_both;
    message_status in_ten;
    bit<16> id;
    bit<8>  has_name;
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
    message("dns") whole;
    message("dns") by_id;
    message("dns") by_name;
    message("dns") by_both;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<8> first;
        bit<32> length;
        hdr.report.setValid();
        hdr.report.whole = whole.read(0);
        hdr.report.for_id = by_id.read_for(0, 1000, "id");
        by_id.get_number("id", hdr.report.id);
        // The name is not among what is read for: it is there all the same.
        hdr.report.for_name = by_name.read_for(0, 1000, "rcode");
        hdr.report.has_name = by_name.get_bytes("qname", first, length) ? 8w1 : 0;
        hdr.report.for_both = by_both.read_for(0, 1000, "qname, id");
        // The same object reads another message: the first ten bytes.
        hdr.report.in_ten = by_both.read_for(0, 10, "answer.ttl");
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), dep()) main;
