// SPDX-License-Identifier: Apache-2.0
//
// What programs of v1model's first years call: the checksum as an object, mark_to_drop without arguments.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    bit<8>  hops;
    bit<16> sum;
    bit<24> rest;
}

struct headers_t {
    ethernet_t eth;
    h_t        h;
}

struct metadata_t {
    bool is_wrong;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.h);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    Checksum16() internet;
    apply {
        meta.is_wrong = internet.get({hdr.h.hops, 8w0, hdr.h.rest}) != hdr.h.sum;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 3;
        hdr.h.hops = hdr.h.hops - 1;
        if (meta.is_wrong) {
            mark_to_drop();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    Checksum16() internet;
    apply {
        hdr.h.sum = internet.get({hdr.h.hops, 8w0, hdr.h.rest});
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
