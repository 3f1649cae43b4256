// SPDX-License-Identifier: Apache-2.0
//
// Keys that are computed: slices, concatenations, sums, and parts of several headers.

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
    bit<8>  result;
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
    action set(bit<8> value) {
        hdr.data.result = value;
    }

    table t {
        key = {
            hdr.data.a[11:4]                      : exact @name("middle");
            hdr.data.a + hdr.data.b               : exact @name("sum");
            hdr.data.b[3:0] ++ hdr.eth.type[15:12]: ternary @name("joined");
        }
        actions = { set; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        t.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
