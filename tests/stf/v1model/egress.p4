// SPDX-License-Identifier: Apache-2.0
//
// Egress knows the port and may drop; metadata goes from the parser to egress; the packet's length.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  port;
    bit<16> egress_port;
    bit<32> length;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    bit<16> doubled;
    bool    seen;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        meta.doubled = (bit<16>)hdr.d.port + (bit<16>)hdr.d.port;
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = (bit<9>)hdr.d.port;
        meta.seen = true;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.egress_port = (bit<16>)std.egress_port;
        hdr.d.length = std.packet_length;
        if (meta.seen && meta.doubled == 14) {
            mark_to_drop(std);
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
