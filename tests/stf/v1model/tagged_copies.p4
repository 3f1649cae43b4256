// SPDX-License-Identifier: Apache-2.0
//
// Tags of copies: the stack keeps a packet's tag beside it, and each copy has one of its own, another, or none.

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

header tag_t {
    bit<16> number;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
    tag_t      tag;
    data_t     d;
}

struct metadata_t {
    @field_list(1) bit<8> kept;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x8100:  tag;
            default: data;
        }
    }
    state tag {
        packet.extract(hdr.tag);
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
        std.egress_spec = 1;
        if (hdr.d.kind == 0) {
            clone(CloneType.I2E, 5);
        } else if (hdr.d.kind == 1 && std.instance_type == 0) {
            clone(CloneType.I2E, 5);
            resubmit_preserving_field_list(1);
        } else if (hdr.d.kind == 3) {
            std.mcast_grp = 1;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.d.kind == 2) {
            hdr.d.kind = 9;
            recirculate_preserving_field_list(1);
        }
        hdr.d.instance = (bit<8>)std.packet_length;
        if (std.egress_rid == 7 && hdr.tag.isValid()) {
            hdr.eth.type = hdr.tag.type;
            hdr.tag.setInvalid();
        } else if (std.egress_rid == 7) {
            hdr.tag = { 5, hdr.eth.type };
            hdr.tag.setValid();
            hdr.eth.type = 0x8100;
        } else if (std.egress_rid == 8) {
            hdr.tag.number = 4;
        }
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
