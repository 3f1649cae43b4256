// SPDX-License-Identifier: Apache-2.0
//
// More tables than the kernel lets a program use maps: 24 of each match kind, each of which adds its entry's argument.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header number_t {
    bit<16> key;
    bit<16> sum;
}

struct headers_t {
    ethernet_t eth;
    number_t   number;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.number);
        transition accept;
    }
}

#define TABLE(name, kind) \
    table name { \
        key = { hdr.number.key : kind; } \
        actions = { add; NoAction; } \
        default_action = NoAction(); \
        size = 16; \
    }

#define EIGHT(declare, name, kind) \
    declare(name##0, kind) declare(name##1, kind) declare(name##2, kind) declare(name##3, kind) \
    declare(name##4, kind) declare(name##5, kind) declare(name##6, kind) declare(name##7, kind)

#define KIND(declare, kind) \
    EIGHT(declare, kind##_a, kind) EIGHT(declare, kind##_b, kind) EIGHT(declare, kind##_c, kind)

#define APPLY(name, kind) name.apply();

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action add(bit<16> by) {
        hdr.number.sum = hdr.number.sum + by;
    }

    KIND(TABLE, exact)
    KIND(TABLE, lpm)
    KIND(TABLE, ternary)

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        KIND(APPLY, exact)
        KIND(APPLY, lpm)
        KIND(APPLY, ternary)
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.number);
    }
}

xdp(prs(), sw(), dprs()) main;
