// SPDX-License-Identifier: Apache-2.0
//
// A local of the deparser is emitted, changed and emitted again: each emit shows what it was then.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header mark_t {
    bit<8>  tag;
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    mark_t     mark;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.mark);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    mark_t own;

    apply {
        packet.emit(hdr.eth);
        own = hdr.mark;
        packet.emit(own);
        own.value = own.value + 1;
        packet.emit(own);
        if (hdr.mark.tag == 1) {
            own.setInvalid();
        } else {
            own.tag = 0xee;
        }
        packet.emit(own);
        packet.emit(hdr.mark);
    }
}

xdp(prs(), sw(), dprs()) main;
