// SPDX-License-Identifier: Apache-2.0
//
// Two tables in a row, the second one keyed by what the first one found; metadata that lives in locals.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32> addr;
    bit<8>  class;
    bit<16> result;
}

struct found_t {
    bit<8>  class;
    bit<16> weight;
    bool    known;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    found_t found;

    action classify(bit<8> class, bit<16> weight) {
        found = { class, weight, true };
    }

    action unknown() {
        found.known = false;
        found.class = 0;
        found.weight = 0;
    }

    table classes {
        key = { hdr.d.addr : lpm @name("addr"); }
        actions = { classify; unknown; }
        default_action = unknown();
        size = 16;
    }

    action scale(bit<16> factor) {
        hdr.d.result = found.weight * factor;
    }

    table scales {
        key = {
            found.known : exact @name("known");
            found.class : exact @name("class");
        }
        actions = { scale; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        classes.apply();
        hdr.d.class = found.class;
        scales.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
