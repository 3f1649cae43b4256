// SPDX-License-Identifier: Apache-2.0
//
// Structs, tuples, headers and stacks as local variables; a header that never was in the packet.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<16> a;
    bit<16> b;
}

struct pair_t {
    data_t one;
    data_t two;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
    data_t     e;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    data_t kept;
    pair_t pair;
    data_t[3] stack;
    tuple<bit<16>, bool> t;

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        kept = hdr.d;
        pair.one = kept;
        pair.two.setValid();
        pair.two = { kept.b, kept.a };
        stack[0] = pair.two;
        stack.push_front(1);
        stack[0] = { 7, 8 };
        t = { stack[1].a, stack[2].isValid() };
        hdr.e = stack[1];
        if (!t[1] && pair.one.isValid()) {
            hdr.e.a = t[0] + stack[0].b;
        }
        hdr.d.setInvalid();
        if (pair == (pair_t){ kept, stack[1] }) {
            hdr.d = kept;
            hdr.d.b = 0xeeee;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
        packet.emit(hdr.e);
    }
}

xdp(prs(), sw(), dprs()) main;
