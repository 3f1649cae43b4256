// SPDX-License-Identifier: Apache-2.0
//
// advance skips: what was skipped does not come out again, unless it was payload.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header skip_t {
    bit<8> bytes;
}

header tail_t {
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    skip_t     skip;
    tail_t     tail;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.skip);
        transition select(hdr.skip.bytes) {
            0..32:   skip;
            default: constant;
        }
    }
    state skip {
        packet.advance((bit<32>)hdr.skip.bytes << 3);
        packet.extract(hdr.tail);
        transition accept;
    }
    state constant {
        packet.advance(24);
        packet.advance(8);
        packet.extract(hdr.tail);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.tail.isValid()) {
            hdr.tail.value = hdr.tail.value + 1;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.skip);
        packet.emit(hdr.tail);
    }
}

xdp(prs(), sw(), dprs()) main;
