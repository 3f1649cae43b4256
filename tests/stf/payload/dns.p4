// SPDX-License-Identifier: Apache-2.0
//
// Attributes of a DNS message behind the Ethernet header, in front of the packet.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header report_t {
    message_status status;
    bit<1>   has_id;
    bit<1>   response;
    bit<1>   has_name;
    bit<1>   has_address;
    bit<4>   rcode;
    bit<16>  id;
    bit<16>  type;
    bit<16>  name_length;
    bit<128> name;
    bit<32>  address;
    bit<8>   address_length;
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

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<32> length;
        hdr.report.setValid();
        if (hdr.eth.type != 0x1235) {
            hdr.report.status = dns.read(0);
        }
        bool found = dns.get_number("id", hdr.report.id);
        hdr.report.has_id = found ? 1w1 : 0;
        dns.get_number("response", hdr.report.response);
        dns.get_number("rcode", hdr.report.rcode);
        dns.get_number("qtype", hdr.report.type);
        found = dns.get_bytes("qname", hdr.report.name, length);
        hdr.report.has_name = found ? 1w1 : 0;
        hdr.report.name_length = (bit<16>)length;
        found = dns.get_bytes("answer.ipv4", hdr.report.address, length);
        hdr.report.has_address = found ? 1w1 : 0;
        hdr.report.address_length = (bit<8>)length;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), dep()) main;
