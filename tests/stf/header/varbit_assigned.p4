// SPDX-License-Identifier: Apache-2.0
//
// A field of variable size that is assigned by itself: to a variable, from it, and to another header.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  left;
    bit<8>  right;
    bit<8>  what;
}

header options_t { varbit<64> data; }

struct headers_t {
    h_t       h;
    options_t left;
    options_t right;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.left, (bit<32>) hdr.h.left << 3);
        packet.extract(hdr.right, (bit<32>) hdr.h.right << 3);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        varbit<64> kept = hdr.left.data;
        if (hdr.h.what == 1) {
            hdr.left.data = hdr.right.data;
        } else if (hdr.h.what == 2) {
            hdr.left.data = hdr.right.data;
            hdr.right.data = kept;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
        packet.emit(hdr.left);
        packet.emit(hdr.right);
    }
}

xdp(prs(), sw(), dprs()) main;
