// SPDX-License-Identifier: Apache-2.0
//
// A header with fields of every kind; a deparser that decides what it emits.

#include <core.p4>
#include <xdp_model.p4>

enum bit<8> protocol_t { tcp = 6, udp = 17 }
enum int<4> level_t { low = -8, high = 7 }

struct flags_t {
    bool   first;
    bit<2> rest;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    bit<3>     small;
    int<5>     number;
    bool       is_set;
    flags_t    flags;
    level_t    level;
    protocol_t protocol;
}

header answer_t {
    bit<8> what;
    bit<8> more;
}

struct headers_t {
    ethernet_t eth;
    h_t        h;
    answer_t   answer;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.h);
        transition select(hdr.h.protocol, hdr.h.is_set) {
            (protocol_t.tcp, true): asked;
            (protocol_t.udp, _): asked;
            default: accept;
        }
    }
    state asked {
        packet.extract(hdr.answer);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.answer.isValid()) {
            hdr.answer.what = (bit<8>)(hdr.h.small ++ (bit<5>) hdr.h.number);
            if (hdr.h.number < -3 && !hdr.h.flags.first) {
                hdr.answer.more = 1;
            }
            hdr.h.is_set = !hdr.h.is_set;
            hdr.h.flags = { first = hdr.h.level == level_t.high, ... };
            hdr.h.level = level_t.low;
            hdr.h.protocol = protocol_t.tcp;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        if (hdr.answer.isValid() && hdr.answer.more == 1) {
            packet.emit(hdr.answer);
            packet.emit(hdr.h);
        } else {
            packet.emit(hdr.h);
        }
    }
}

xdp(prs(), sw(), dprs()) main;
