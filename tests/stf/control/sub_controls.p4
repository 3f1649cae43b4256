// SPDX-License-Identifier: Apache-2.0
//
// Controls inside controls: generic, with constructor parameters, several instances with tables of their own.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  key;
    bit<8>  small;
    bit<16> large;
    bit<8>  left;
    bit<8>  right;
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

control adder(inout bit<8> value)(bit<8> step) {
    apply {
        value = value + step;
    }
}

control larger_of(in bit<16> a, in bit<16> b, out bit<16> result) {
    apply {
        result = a > b ? a : b;
    }
}

control look_up(in bit<8> key, inout bit<8> result)(bit<8> fallback) {
    action set(bit<8> value) {
        result = value;
    }
    table t {
        key = { key : exact @name("key"); }
        actions = { set; }
        default_action = set(fallback);
        size = 8;
    }
    apply {
        t.apply();
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    adder(5) by_five;
    adder(100) by_hundred;
    look_up(1) left;
    look_up(2) right;

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        by_five.apply(hdr.data.small);
        by_hundred.apply(hdr.data.small);
        if (hdr.data.large > 100) {
            larger_of.apply(hdr.data.large, 1000, hdr.data.large);
        }
        left.apply(hdr.data.key, hdr.data.left);
        right.apply(hdr.data.key, hdr.data.right);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
