// SPDX-License-Identifier: Apache-2.0
//
// Keys are evaluated from left to right, also where a later one changes what an earlier one reads; and what comes behind
// some bits of a field among the arguments is copied out although the action exits.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  read;
    bit<8>  found;
    bit<8>  bits;
    bit<8>  behind;
}

struct headers_t {
    h_t h;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

bit<8> raise(inout bit<8> value) {
    value = value + 1;
    return value;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action found(bit<8> value) {
        hdr.h.found = value;
    }
    action stop(inout bit<4> some, inout bit<8> behind) {
        some = 3;
        behind = 4;
        exit;
    }
    table three {
        key = {
            hdr.h.read: exact @name("before");
            raise(hdr.h.read): exact @name("raised");
            hdr.h.read: exact @name("after");
        }
        actions = { found; }
        default_action = found(0xee);
        const entries = {
            (7, 8, 8): found(0x11);
        }
    }
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        three.apply();
        stop(hdr.h.bits[3:0], hdr.h.behind);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
