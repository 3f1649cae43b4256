// SPDX-License-Identifier: Apache-2.0
//
// Keys are evaluated from left to right, also where a later one changes what an earlier one reads; and what comes behind
// a member of a union among the arguments is copied out although the action exits.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  read;
    bit<8>  found;
    bit<8>  behind;
}

header one_t {
    bit<8> value;
}

header other_t {
    bit<16> value;
}

header_union either_t {
    one_t   one;
    other_t other;
}

struct headers_t {
    h_t      h;
    either_t either;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.either.one);
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
    action stop(inout one_t member, inout bit<8> behind) {
        member.value = 3;
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
        stop(hdr.either.one, hdr.h.behind);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
        packet.emit(hdr.either);
    }
}

xdp(prs(), sw(), dprs()) main;
