// SPDX-License-Identifier: Apache-2.0
//
// Unions as wholes: assigned, compared, made invalid, exchanged.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  left;
    bit<8>  right;
    bit<8>  what;
    bit<8>  same;
}

header one_t { bit<8> value; }
header two_t { bit<16> value; }
header_union either_t {
    one_t one;
    two_t two;
}

struct headers_t {
    h_t      h;
    either_t left;
    either_t right;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.left) {
            1: left_one;
            2: left_two;
            default: right;
        }
    }
    state left_one {
        packet.extract(hdr.left.one);
        transition right;
    }
    state left_two {
        packet.extract(hdr.left.two);
        transition right;
    }
    state right {
        transition select(hdr.h.right) {
            1: right_one;
            2: right_two;
            default: accept;
        }
    }
    state right_one {
        packet.extract(hdr.right.one);
        transition accept;
    }
    state right_two {
        packet.extract(hdr.right.two);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.h.same = hdr.left == hdr.right ? 8w1 : 0;
        if (hdr.left != hdr.right) {
            hdr.h.same = hdr.h.same + 2;
        }
        switch (hdr.h.what) {
            1: { hdr.left = hdr.right; }
            2: { hdr.left = {#}; }
            3: {
                either_t kept = hdr.left;
                hdr.left = hdr.right;
                hdr.right = kept;
            }
        }
        if (hdr.left.isValid()) {
            hdr.h.same = hdr.h.same + 0x10;
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
