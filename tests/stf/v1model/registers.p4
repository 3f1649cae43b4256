// SPDX-License-Identifier: Apache-2.0
//
// Registers: packets leave state for later packets; the control plane reads and writes it.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  op;
    bit<8>  index;
    bit<32> value;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t { }

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
    register<bit<32>>(16) cells;
    register<bit<48>>(4) wide;

    apply {
        std.egress_spec = std.ingress_port;
        if (hdr.d.op == 1) {
            cells.write((bit<32>)hdr.d.index, hdr.d.value);
        } else if (hdr.d.op == 2) {
            cells.read(hdr.d.value, (bit<32>)hdr.d.index);
        } else if (hdr.d.op == 3) {
            bit<32> v;
            cells.read(v, (bit<32>)hdr.d.index);
            v = v + hdr.d.value;
            cells.write((bit<32>)hdr.d.index, v);
            wide.write(3, 16w0xffff ++ v);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
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
