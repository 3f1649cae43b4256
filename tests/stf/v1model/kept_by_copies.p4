// SPDX-License-Identifier: Apache-2.0
//
// A field that only ingress reads belongs to each copy all the same: what a clone of ingress, one of egress and the packet keep
// when they are recirculated.

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
    @field_list(1) bit<8> kept;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition select(hdr.d.kind) {
            2:       cloned;
            default: accept;
        }
    }
    // The parser alone asks for it.
    state cloned {
        clone_preserving_field_list(CloneType.I2E, 5, 1);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.d.kind == 2) {
            meta.kept = 7;
        } else if (std.instance_type == 4) {
            hdr.d.kept = meta.kept;
            std.egress_spec = (bit<9>)hdr.d.to;
        } else {
            meta.kept = 5;
            clone(CloneType.I2E, 5);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.d.kind == 2) {
            hdr.d.kept = meta.kept;
            hdr.d.instance = (bit<8>)std.instance_type;
        } else if (hdr.d.kind == 0) {
            hdr.d.kind = 1;
            hdr.d.to = 2;
            if (std.instance_type == 0) {
                clone(CloneType.E2E, 5);
                hdr.d.to = 1;
                meta.kept = 9;
            }
            recirculate_preserving_field_list(1);
        } else if (std.instance_type == 2) {
            hdr.d.to = 3;
            recirculate_preserving_field_list(1);
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
