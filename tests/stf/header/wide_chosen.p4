// SPDX-License-Identifier: Apache-2.0
//
// A wide field of an element, stored where the element's index came from: all of it is that element's.

#include <core.p4>
#include <xdp_model.p4>

header base_t {
    bit<112> ethernet;
    bit<128> chosen;
}

header option_t {
    bit<128> wide;
}

struct headers_t {
    base_t      base;
    option_t[3] options;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.base);
        packet.extract(hdr.options.next);
        packet.extract(hdr.options.next);
        packet.extract(hdr.options.next);
        transition accept;
    }
}

control pipe(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<128> value = hdr.base.chosen;
        value = hdr.options[value[1:0]].wide;
        hdr.base.chosen = hdr.options[hdr.base.chosen[1:0]].wide;
        hdr.options[0].wide = value;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.base);
        packet.emit(hdr.options);
    }
}

xdp(prs(), pipe(), dprs()) main;
