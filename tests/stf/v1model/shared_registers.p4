// SPDX-License-Identifier: Apache-2.0
//
// Atomic blocks that use several cells: of two registers at one index, of one register at two indices. Nothing that several processors
// do at once is lost.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32> index;
    bit<32> from;
    bit<32> to;
    bit<32> amount;
    bit<32> packets;
    bit<64> sum;
    bit<32> rest;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t { }

struct sum_t {
    bit<32> last;
    bit<64> sum;
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
    register<bit<32>>(8) packets;
    register<sum_t>(4) sums;
    register<bit<32>>(4) accounts;
    register<bit<32>>(1) refused;

    bit<32> count;
    sum_t sum;
    bit<32> left;
    bit<32> right;
    bit<32> misses;

    apply {
        std.egress_spec = 1;
        @atomic {
            packets.read(count, hdr.d.index);
            sums.read(sum, hdr.d.index);
            count = count + 1;
            sum.last = hdr.d.amount;
            sum.sum = sum.sum + (bit<64>)hdr.d.amount + (bit<64>)count;
            sums.write(hdr.d.index, sum);
            packets.write(hdr.d.index, count);
        }
        hdr.d.packets = count;
        hdr.d.sum = sum.sum;
        // What is in no block comes before or after one.
        packets.read(count, 7);
        packets.write(7, 9);
        @atomic {
            accounts.read(left, hdr.d.from);
            accounts.read(right, hdr.d.to);
            if (left >= hdr.d.amount) {
                accounts.write(hdr.d.from, left - hdr.d.amount);
                accounts.read(right, hdr.d.to);
                accounts.write(hdr.d.to, right + hdr.d.amount);
            } else {
                refused.read(misses, 0);
                refused.write(0, misses + 1);
            }
        }
        hdr.d.rest = left;
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
