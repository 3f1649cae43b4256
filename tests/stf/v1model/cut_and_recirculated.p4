// SPDX-License-Identifier: Apache-2.0
//
// A packet that is cut and recirculated comes in again as short as it was cut; a resubmitted one is whole.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> kind;
    bit<8> kept;
    bit<8> to;
    bit<8> instance;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    @field_list(1) bit<8> round;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.d.kind == 2 && meta.round == 0) {
            meta.round = 1;
            truncate(20);
            resubmit_preserving_field_list(1);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.d.kind == 0) {
            hdr.d.kind = 1;
            truncate(20);
            recirculate_preserving_field_list(1);
        }
        if (hdr.d.kind == 3) {
            truncate(19);
        }
        hdr.d.kept = (bit<8>)std.packet_length;
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
