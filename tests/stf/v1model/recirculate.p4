// SPDX-License-Identifier: Apache-2.0
//
// Recirculation: the packet as it was deparsed, with a tag more in each round, parsed anew, with the fields of a list. A
// packet that egress drops is not recirculated; a clone may be.

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
    bit<8> input;
}

header tag_t {
    bit<8> round;
    bit<8> length;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
    tag_t[4]   tags;
}

struct metadata_t {
    @field_list(1) bit<8> round;
    bit<8>               tags;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x8888:  tags;
            default: data;
        }
    }
    state tags {
        packet.extract(hdr.tags.next);
        meta.tags = meta.tags + 1;
        transition select(meta.tags == meta.round) {
            true:  data;
            false: tags;
        }
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
        std.egress_spec = 1;
        hdr.d.instance = (bit<8>)std.instance_type;
        hdr.d.input = (bit<8>)std.ingress_port;
        if (hdr.d.rounds == 0x81) {
            // Asked for before egress.
            hdr.d.rounds = 0x80;
            recirculate_preserving_field_list(0);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (meta.round < (hdr.d.rounds & 0x0f)) {
            meta.round = meta.round + 1;
            hdr.eth.type = 0x8888;
            hdr.tags.push_front(1);
            hdr.tags[0].setValid();
            hdr.tags[0] = { meta.round, (bit<8>)std.packet_length };
            recirculate_preserving_field_list(1);
            if (hdr.d.rounds & 0x40 != 0) {
                mark_to_drop(std);
            }
        }
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.tags);
        packet.emit(hdr.d);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
