// SPDX-License-Identifier: Apache-2.0
//
// Actions with parameters bound in the table: copied in before the body runs, copied out after it, also when it exits.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> kind;
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
    bit<8> e;
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
    action mix(in bit<8> from, inout bit<8> to, out bit<8> old, bit<8> more) {
        old = to;
        hdr.data.a = 0x55;
        if (from == 3) {
            return;
        }
        to = from + more;
    }

    action stop(inout bit<8> x) {
        x = x + 1;
        if (x == 9) {
            exit;
        }
        x = x + 0x10;
    }

    table t {
        key = { hdr.data.kind : exact; }
        actions = {
            mix(hdr.data.a, hdr.data.b, hdr.data.c);
            stop(hdr.data.d);
            NoAction;
        }
        const entries = {
            1 : mix(7);
            2 : stop();
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        t.apply();
        hdr.data.e = 0xee;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
