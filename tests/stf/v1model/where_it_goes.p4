// SPDX-License-Identifier: Apache-2.0
//
// The traffic manager alone says where a packet goes: egress may write its port, or a group, and nothing follows. A checksum over a
// constant that is wider than what is left of its word.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  op;
    bit<8>  hash;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    bit<100> nothing;
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
        hash(hdr.d.hash, HashAlgorithm.crc32, 8w0, { hdr.d.op, 13w5, meta.nothing }, 9w256);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_port = 3;
        std.mcast_grp = 1;
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(true, { hdr.d.op, 64w1 }, hdr.d.checksum, HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
