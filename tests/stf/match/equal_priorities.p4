// SPDX-License-Identifier: Apache-2.0
//
// Of entries with equal priorities the one with the longer prefix wins, then the earlier one; a higher priority before either.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<16> mark;
    bit<16> port;
    int<8>  level;
    bit<20> label;
    bit<4>  pad;
    bit<16> result;
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
    action set(bit<16> value) {
        hdr.data.result = value;
    }

    // A tuple space takes the earlier mask instead.
    @layout("bit_vectors")
    table t {
        key = {
            hdr.data.port : lpm @name("port");
            hdr.data.mark : ternary @name("mark");
        }
        actions = { set; }
        default_action = set(0xffff);
        size = 32;
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
