// SPDX-License-Identifier: Apache-2.0
//
// Items that the parser skips, in a packet that may end within one: ingress sees the error, and the packet goes on from where
// the parser stopped.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header report_t {
    bit<8> code;
    bit<8> kind;
}

struct headers_t {
    ethernet_t eth;
    report_t   report;
}

struct metadata_t {
    bit<8> kind;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition item;
    }
    state item {
        transition select(packet.lookahead<bit<8>>()) {
            1:       two;
            2:       three;
            3:       three;
            4:       eight;
            5:       found;
            default: other;
        }
    }
    state two {
        packet.advance(16);
        transition item;
    }
    state three {
        packet.advance(24);
        transition item;
    }
    state eight {
        packet.advance(64);
        transition item;
    }
    state found {
        meta.kind = 5;
        transition accept;
    }
    state other {
        meta.kind = packet.lookahead<bit<8>>();
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.report.setValid();
        hdr.report.code = 0;
        hdr.report.kind = meta.kind;
        if (std.parser_error == error.PacketTooShort) {
            hdr.report.code = 1;
        } else if (std.parser_error != error.NoError) {
            hdr.report.code = 2;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.report);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
