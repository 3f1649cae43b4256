// SPDX-License-Identifier: Apache-2.0
//
// Server names of QUIC connections, which the last byte of the destination numbers. A report in front of the packet has the status of taking the
// datagram, that of reading the ClientHello, and the name.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>
#include <flow_state.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header report_t {
    quic_status    taken;
    message_status status;
    bit<8>         ticket;
    bit<8>         length;
    bit<128>       name;
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
    quic_initials(16) initials;
    message("quic") hello;
    flow_state<bit<8>, bit<64>>(64) tickets;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<8> connection = hdr.eth.dst[7:0];
        bit<64> ticket = 0;
        bit<64> ticket_of_all;
        tickets.lookup(connection, ticket);
        hdr.report.setValid();
        hdr.report.taken = initials.take(ticket, 0, payload_length(), ticket_of_all);
        hdr.report.status = hello.read_initials(initials, ticket_of_all, "sni");
        hdr.report.ticket = (bit<8>)ticket_of_all;
        bit<32> length;
        hello.get_bytes("sni", hdr.report.name, length);
        hdr.report.length = (bit<8>)length;
        tickets.update(connection, ticket_of_all);
    }
}

control deparser(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), deparser()) main;
