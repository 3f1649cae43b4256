// SPDX-License-Identifier: Apache-2.0
//
// Default actions: given by the program, const, with arguments, changed while packets run.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> key;
    bit<8> first;
    bit<8> second;
    bit<8> third;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action first(bit<8> value) {
        hdr.data.first = value;
    }

    action second(bit<8> value) {
        hdr.data.second = value;
    }

    action third() {
        hdr.data.third = 3;
    }

    table changing {
        key = { hdr.data.key : exact @name("key"); }
        actions = { first; @defaultonly third; }
        default_action = first(1);
        size = 8;
    }

    table fixed {
        key = { hdr.data.key : exact @name("key"); }
        actions = { second; }
        const default_action = second(2);
        size = 8;
    }

    table keyless {
        actions = { third; NoAction; }
        default_action = NoAction();
    }

    table unspecified {
        key = { hdr.data.key : exact @name("key"); }
        actions = { first; }
        size = 8;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        changing.apply();
        fixed.apply();
        keyless.apply();
        unspecified.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
