// SPDX-License-Identifier: Apache-2.0
//
// An array of arrays and one of its elements, which only the packet knows, given to one control: what is copied out last
// is what stays.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  i;
    bit<8>  first;
    bit<8>  second;
    bit<8>  last;
}

struct headers_t {
    h_t h;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control element_first(inout bit<8>[2] element, inout bit<8>[2][2] all) {
    apply {
        element[0] = 5;
        all[1][1] = 9;
    }
}

control element_last(inout bit<8>[2][2] all, inout bit<8>[2] element) {
    apply {
        element[0] = 6;
        all[1][1] = all[1][1] + 1;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    bit<8>[2][2] a;
    element_first() first;
    element_last() last;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        a = {{1, 0}, {2, 0}};
        if (hdr.h.first == 0) {
            first.apply(a[hdr.h.i], a);
        } else {
            last.apply(a, a[hdr.h.i]);
        }
        hdr.h.first = a[0][0];
        hdr.h.second = a[1][0];
        hdr.h.last = a[1][1];
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
