// SPDX-License-Identifier: Apache-2.0
//
// Clones that egress makes: the headers as egress left them, and the payload, with the fields of a list; they go through
// egress like any packet, and may be cloned again.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> rounds;
    bit<8> instance;
    bit<8> round;
    bit<8> lost;
    bit<8> added;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    @field_list(1) bit<8> round;
    bit<8>               lost;
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
        meta.lost = 0x77;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.instance = (bit<8>)std.instance_type;
        hdr.d.round = meta.round;
        hdr.d.lost = meta.lost;
        hdr.d.added = hdr.d.added + 1;
        if (hdr.eth.type == 0x0001) {
            // It goes on as a clone.
            mark_to_drop(std);
        }
        if (meta.round < hdr.d.rounds) {
            meta.round = meta.round + 1;
            clone_preserving_field_list(CloneType.E2E, 5 + (bit<32>)meta.round, 1);
        }
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
