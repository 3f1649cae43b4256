// SPDX-License-Identifier: Apache-2.0
//
// Fields of a stack's elements whose indices only the packet knows, in a loop and by a wide number: of those that the parser found, of those that it did not,
// and of none. The verifier has to see that they are in the packet without following which elements are.

#include <core.p4>
#include <xdp_model.p4>

header base_t {
    bit<112> ethernet;
    bit<40>  chosen;
    bit<16>  sum;
    bit<96>  wide;
    bit<16>  tag;
}

header option_t {
    bit<2>  more;
    bit<6>  kind;
    bit<96> wide;
    bit<16> value;
}

struct headers_t {
    base_t      base;
    option_t[8] options;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.base);
        transition select(hdr.base.tag) {
            0: accept;
            default: option;
        }
    }
    state option {
        packet.extract(hdr.options.next);
        transition select(hdr.options.last.more) {
            0: accept;
            default: option;
        }
    }
}

control pipe(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        // What may be written without being there is in variables.
        hdr.options[1].value = hdr.options[1].value + 1;
        for (bit<32> i = 0; i < 8; i = i + 1) {
            if (hdr.options[i].isValid() && hdr.options[i].kind == 7) {
                hdr.base.sum = hdr.base.sum + hdr.options[i].value;
            }
        }
        hdr.base.wide = hdr.options[hdr.base.chosen].wide;
        hdr.base.tag = hdr.options[hdr.base.chosen].value + (bit<16>)hdr.options[hdr.base.chosen].kind;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.base);
        packet.emit(hdr.options);
    }
}

xdp(prs(), pipe(), dprs()) main;
