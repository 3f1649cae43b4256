// SPDX-License-Identifier: Apache-2.0
//
// More rules with ternary, range and optional keys than a word or a block of words has bits: the summaries of the
// rows lead to the one that wins.

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

    table t {
        key = {
            hdr.data.mark  : ternary @name("mark");
            hdr.data.port  : range @name("port");
            hdr.data.level : range @name("level");
            hdr.data.label : optional @name("label");
        }
        actions = { set; }
        default_action = set(0xffff);
        size = 600;
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
