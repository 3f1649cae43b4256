// SPDX-License-Identifier: Apache-2.0
//
// A field of variable size that is one of several: by a condition, and by an index that the packet has.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  left;
    bit<8>  right;
    bit<8>  which;
}

header options_t { varbit<64> data; }

struct kept_t {
    varbit<64> data;
    bit<8>     size;
}

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
    varbit<64>[2] kept;
    kept_t[2] structs;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        kept[0] = hdr.left.data;
        kept[1] = hdr.right.data;
        structs[0] = { hdr.right.data, hdr.h.right };
        structs[1] = { hdr.left.data, hdr.h.left };
        hdr.left.data = hdr.h.which == 1 ? hdr.right.data : hdr.left.data;
        hdr.right.data = kept[hdr.h.which];
        kept_t one = structs[hdr.h.which];
        if (hdr.h.which == 7) {
            structs[hdr.h.left].data = kept[1];
            hdr.left.data = structs[hdr.h.left].data;
        }
        hdr.h.which = one.size;
        if (hdr.h.left == 3) {
            hdr.left.data = one.data;
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
