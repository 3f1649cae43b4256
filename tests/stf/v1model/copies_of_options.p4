// SPDX-License-Identifier: Apache-2.0
//
// Fields of variable length in copies, with a field behind them that differs.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header options_t {
    bit<8>      kind;
    bit<8>      length;
    varbit<128> bytes;
    bit<8>      end;
}

struct headers_t {
    ethernet_t eth;
    options_t  options;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.options, (bit<32>)packet.lookahead<bit<16>>()[7:0] * 8);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        clone(CloneType.I2E, 5);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type == 1) {
            hdr.options.end = 1;
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
