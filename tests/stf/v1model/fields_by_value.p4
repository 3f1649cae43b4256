// SPDX-License-Identifier: Apache-2.0
//
// The older externs name the fields that are kept themselves; what counts is still the fields' values when the block has
// ended.

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
    bit<8> lost;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    bit<8> kept;
    bit<8> lost;
    bit<8> round;
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
        if (hdr.d.kind == 1) {
            clone3(CloneType.I2E, 5, { meta.kept, std.ingress_port });
        } else if (hdr.d.kind == 2 && meta.round == 0) {
            resubmit({ meta.round, meta.kept });
        } else if (hdr.d.kind == 3) {
            clone3(CloneType.I2E, 5, {});
        } else if (hdr.d.kind == 4) {
            clone3(CloneType.I2E, 5, meta);
        }
        meta.kept = meta.kept + 1;
        meta.lost = meta.lost + 1;
        meta.round = meta.round + 1;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.kept = meta.kept;
        hdr.d.lost = meta.lost;
        if (hdr.d.kind == 5 && meta.round == 1) {
            recirculate({ meta.kept, meta.round });
            meta.kept = 0x20;
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
