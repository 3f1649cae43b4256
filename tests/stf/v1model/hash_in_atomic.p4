// SPDX-License-Identifier: Apache-2.0
//
// Hashes in atomic blocks: one that gives the index, before the first call of the register, and one of the packet's addresses among
// its calls, in a branch.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<16> slot;
    bit<32> seen;
    bit<32> sum;
    bit<8>  mark;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct cell_t {
    bit<32> seen;
    bit<32> sum;
}

struct metadata_t {
    bit<16> slot;
    cell_t  cell;
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
    register<cell_t>(16) flows;

    apply {
        std.egress_spec = 1;
        @atomic {
            hash(meta.slot, HashAlgorithm.crc16, 16w0, { hdr.eth.src, hdr.eth.dst }, 16w16);
            flows.read(meta.cell, (bit<32>)meta.slot);
            meta.cell.seen = meta.cell.seen + 1;
            if (hdr.d.mark == 1) {
                bit<32> sum;
                hash(sum, HashAlgorithm.crc32, 32w0, { hdr.eth.src }, 64w0x100000000);
                meta.cell.sum = meta.cell.sum + sum;
            }
            flows.write((bit<32>)meta.slot, meta.cell);
        }
        hdr.d.slot = meta.slot;
        hdr.d.seen = meta.cell.seen;
        hdr.d.sum = meta.cell.sum;
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
