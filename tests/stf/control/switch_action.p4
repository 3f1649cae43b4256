// SPDX-License-Identifier: Apache-2.0
//
// switch over the action that ran, with fall through and default, and over hit and miss.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> key;
    bit<8> ran;
    bit<8> hit;
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
    action a() { }
    action b(bit<8> value) {
        hdr.data.ran = value;
    }
    action c() { }
    action d() { }

    table t {
        key = { hdr.data.key : exact @name("key"); }
        actions = { a; b; c; d; }
        default_action = d();
        size = 16;
    }

    table hits {
        key = { hdr.data.key : exact @name("key"); }
        actions = { NoAction; }
        size = 16;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        switch (t.apply().action_run) {
            a:
            c: {
                hdr.data.ran = 0xac;
            }
            b: {
                hdr.data.ran = hdr.data.ran + 1;
            }
            default: {
                hdr.data.ran = 0xdd;
            }
        }
        if (hits.apply().hit) {
            hdr.data.hit = 1;
        } else {
            hdr.data.hit = 0;
        }
        if (!hits.apply().miss) {
            hdr.data.hit = hdr.data.hit | 0x80;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
