// SPDX-License-Identifier: Apache-2.0
//
// Arrays of what has no bits of its own: enums without a type, errors, and structs with such in them.

#include <core.p4>
#include <xdp_model.p4>

error { TooLate }

enum side_t { left, middle, right }

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    bit<8> op;
    bit<8> i;
    bit<8> j;
    bit<8> result;
}

struct headers_t {
    ethernet_t eth;
    h_t        h;
}

struct noted_t {
    side_t  side;
    bit<8>  count;
    error[2] errors;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.h);
        transition accept;
    }
}

bit<8> number(in side_t side) {
    if (side == side_t.left) { return 1; }
    if (side == side_t.middle) { return 2; }
    return 3;
}

void turn(inout side_t side) {
    side = side_t.right;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    side_t[3] sides;
    noted_t[2] notes;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        sides = {side_t.right, side_t.middle, side_t.left};
        notes[1].errors[0] = error.TooLate;
        if (hdr.h.op == 0) {
            hdr.h.result = number(sides[hdr.h.i]);
        } else if (hdr.h.op == 1) {
            sides[hdr.h.i] = side_t.middle;
            hdr.h.result = number(sides[hdr.h.j]);
        } else if (hdr.h.op == 2) {
            turn(sides[hdr.h.i]);
            hdr.h.result = number(sides[hdr.h.j]);
        } else if (hdr.h.op == 3) {
            notes[hdr.h.i].side = side_t.right;
            notes[hdr.h.i].count = 7;
            notes[hdr.h.i].errors[hdr.h.j] = error.TooLate;
            hdr.h.result = number(notes[0].side) + notes[1].count;
            if (notes[1].errors[1] == error.TooLate) {
                hdr.h.result = hdr.h.result + 0x10;
            }
            if (notes[hdr.h.i].errors[0] == error.TooLate) {
                hdr.h.result = hdr.h.result + 0x20;
            }
        } else {
            notes[0] = notes[hdr.h.i];
            if (notes[0] == notes[1]) {
                hdr.h.result = 0xaa;
            }
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
