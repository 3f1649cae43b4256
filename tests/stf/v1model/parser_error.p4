// SPDX-License-Identifier: Apache-2.0
//
// A parser error does not drop here: ingress sees it and what was extracted before.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

error { TooLarge }

header data_t {
    bit<8> value;
}

header report_t {
    bit<8> code;
}

struct headers_t {
    ethernet_t eth;
    report_t   report;
    data_t     d;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        verify(hdr.d.value < 100, error.TooLarge);
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
        if (std.parser_error == error.NoError) {
            hdr.report.code = 0;
        } else if (std.parser_error == error.PacketTooShort) {
            hdr.report.code = 1;
        } else if (std.parser_error == error.TooLarge) {
            hdr.report.code = 2;
        } else {
            hdr.report.code = 3;
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
        packet.emit(hdr.d);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
