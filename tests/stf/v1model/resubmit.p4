// SPDX-License-Identifier: Apache-2.0
//
// Resubmission: the packet as it came in, parsed anew, with the fields of a list, in the parser too. It comes before a
// multicast group and the drop port.

#include <core.p4>
#include <v1model.p4>

enum bit<8> FieldList {
    NONE = 0,
    ROUNDS = 3
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> rounds;
    bit<8> seen;
    bit<8> lost;
    bit<8> input;
    bit<8> round;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    @field_list(FieldList.ROUNDS) bit<8> round;
    bit<8>                              lost;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(meta.round) {
            2:       skip;
            default: data;
        }
    }
    // The third time, what comes next is not looked at.
    state skip {
        packet.advance(8);
        transition data;
    }
    state data {
        packet.extract(hdr.d);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.eth.type = hdr.eth.type + 1;
        hdr.d.seen = (bit<8>)std.instance_type;
        hdr.d.lost = meta.lost;
        hdr.d.input = (bit<8>)std.ingress_port;
        std.egress_spec = 1;
        if (meta.round < hdr.d.rounds || hdr.d.rounds == 0xff) {
            meta.round = meta.round + 1;
            meta.lost = 0x66;
            std.mcast_grp = 1;
            mark_to_drop(std);
            std.mcast_grp = 1;
            resubmit_preserving_field_list((bit<8>)FieldList.ROUNDS);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.round = meta.round;
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
