// SPDX-License-Identifier: Apache-2.0
//
// Ternary and range keys of one bit, of bools through casts, of enums, and a prefix of an odd width.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

enum bit<4> kind_t {
    A = 1,
    B = 2,
    C = 12
}

header data_t {
    kind_t  kind;
    bit<1>  flag;
    bit<21> prefix;
    bit<6>  small;
    bit<8>  result;
    bit<8>  by_prefix;
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
    action set(bit<8> value) {
        hdr.d.result = value;
    }

    action prefix(bit<8> value) {
        hdr.d.by_prefix = value;
    }

    table t {
        key = {
            hdr.d.flag            : ternary @name("flag");
            (bit<4>)hdr.d.kind    : ternary @name("kind");
            hdr.d.small           : range   @name("small");
        }
        actions = { set; }
        default_action = set(0);
        size = 16;
    }

    table p {
        key = { hdr.d.prefix : lpm @name("prefix"); }
        actions = { prefix; }
        default_action = prefix(0);
        size = 16;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        t.apply();
        p.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
