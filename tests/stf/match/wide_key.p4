// SPDX-License-Identifier: Apache-2.0
//
// Keys of 128 bits: exact, prefix and ternary over IPv6 addresses.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<128> addr;
    bit<8>   exact_result;
    bit<8>   lpm_result;
    bit<8>   ternary_result;
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
    action set_exact(bit<8> value) {
        hdr.data.exact_result = value;
    }

    action set_lpm(bit<8> value) {
        hdr.data.lpm_result = value;
    }

    action set_ternary(bit<8> value) {
        hdr.data.ternary_result = value;
    }

    table exact_t {
        key = { hdr.data.addr : exact @name("addr"); }
        actions = { set_exact; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    table lpm_t {
        key = { hdr.data.addr : lpm @name("addr"); }
        actions = { set_lpm; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    table ternary_t {
        key = { hdr.data.addr : ternary @name("addr"); }
        actions = { set_ternary; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        exact_t.apply();
        lpm_t.apply();
        ternary_t.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
