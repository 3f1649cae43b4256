// SPDX-License-Identifier: Apache-2.0
//
// Messages that go on in the next packet of the same number, which is the last byte of the destination: their first bytes are kept.

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
    message_status status;
    bit<8>   kept;
    bit<16>  length;
    bit<128> host;
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
    message("http") http;
    flow_state<bit<8>, bit<64>>(64) heads;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<8> connection = hdr.eth.dst[7:0];
        bit<32> all = payload_length();
        bit<64> head = 0;
        heads.lookup(connection, head);
        hdr.report.setValid();
        hdr.report.status = http.read_behind(head, 0, all);
        bit<32> length;
        http.get_bytes("host", hdr.report.host, length);
        hdr.report.length = (bit<16>)length;
        if (hdr.report.status == message_status.TRUNCATED || hdr.report.status == message_status.BEGINS) {
            if (all != 0) { head = http.keep(head, 0, all); }
        } else {
            head = 0;
        }
        hdr.report.kept = head == 0 ? 8w0 : 1;
        heads.update(connection, head);
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), dep()) main;
