// SPDX-License-Identifier: Apache-2.0
//
// A header union: one member at a time, chosen by the parser, changed by the control.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header small_t {
    bit<8>  value;
}

header large_t {
    bit<32> value;
}

header_union number_t {
    small_t small;
    large_t large;
}

header kind_t {
    bit<8> kind;
}

struct headers_t {
    ethernet_t eth;
    kind_t     kind;
    number_t   number;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            1:       small;
            2:       large;
            3:       small;
            4:       large;
            default: accept;
        }
    }
    state small {
        packet.extract(hdr.number.small);
        transition accept;
    }
    state large {
        packet.extract(hdr.number.large);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.kind.kind == 3) {
            // Widened: the other member becomes valid, this one invalid.
            bit<8> v = hdr.number.small.value;
            hdr.number.large.setValid();
            hdr.number.large.value = (bit<32>)v;
        } else if (hdr.kind.kind == 4) {
            hdr.number.large.setInvalid();
        } else if (hdr.number.small.isValid()) {
            hdr.number.small.value = hdr.number.small.value + 1;
        } else if (hdr.number.large.isValid()) {
            hdr.number.large.value = hdr.number.large.value + 1;
        }
        if (!hdr.number.isValid()) {
            hdr.kind.kind = hdr.kind.kind | 0x80;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.kind);
        packet.emit(hdr.number);
    }
}

xdp(prs(), sw(), dprs()) main;
