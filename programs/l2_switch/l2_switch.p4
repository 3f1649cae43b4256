// SPDX-License-Identifier: Apache-2.0
//
// An Ethernet switch with a static address table: known destinations are forwarded by XDP, group addresses
// go to the kernel (whose bridge floods), and what to do with unknown ones is the table's default action.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control l2_switch(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // The indices of `frames`.
    const bit<32> KNOWN = 0;
    const bit<32> UNKNOWN = 1;
    const bit<32> GROUP = 2;
    const bit<32> HAIRPIN = 3;

    CounterArray(4, false) frames;

    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
    }

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
    }

    action forward(bit<32> port) {
        xout.output_port = port;
        xout.output_action = xdp_action.XDP_REDIRECT;
    }

    table macs {
        key = { hdr.eth.dst : exact; }
        actions = { forward; to_host; drop; }
        default_action = to_host();
        size = 1024;
    }

    apply {
        xout.output_port = 0;
        if (hdr.eth.dst[40:40] == 1) {
            to_host();
            frames.increment(GROUP);
        } else if (macs.apply().miss) {
            frames.increment(UNKNOWN);
        } else if (xout.output_action == xdp_action.XDP_REDIRECT && xout.output_port == xin.input_port) {
            // The destination is on the segment that the frame came from: it has it already.
            drop();
            frames.increment(HAIRPIN);
        } else {
            frames.increment(KNOWN);
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
    }
}

xdp(prs(), l2_switch(), dprs()) main;
