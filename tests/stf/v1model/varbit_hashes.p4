// SPDX-License-Identifier: Apache-2.0
//
// Fields of variable length in hashes and checksums: they count with the bytes that the packet has. A checksum of an IPv4 header with its
// options; lists in which a varbit begins in the middle of a byte; two varbits, an odd number of bytes, and a payload behind them.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<8>      tos;
    bit<16>     length;
    bit<16>     id;
    bit<16>     fragment;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     checksum;
    bit<32>     src;
    bit<32>     dst;
    varbit<320> options;
}

header tail_t {
    bit<8>      bytes;
    varbit<256> data;
    bit<8>      end;
}

header results_t {
    bit<8>  wrong;
    bit<32> crc32;
    bit<16> crc16;
    bit<64> identity;
    bit<16> exclusive;
    bit<16> sum;
    bit<32> shifted;
    bit<16> shifted_sum;
    bit<16> payload;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    tail_t     tail;
    results_t  results;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.ipv4, ((bit<32>)packet.lookahead<bit<8>>()[3:0] - 5) * 32);
        packet.extract(hdr.tail, (bit<32>)packet.lookahead<bit<8>>() * 8);
        packet.extract(hdr.results);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id,
            hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.results.wrong = (bit<8>)std.checksum_error;
        hash(hdr.results.crc32, HashAlgorithm.crc32, 64w0, { hdr.ipv4.src, hdr.ipv4.options, hdr.ipv4.dst }, 64w1 << 32);
        hash(hdr.results.crc16, HashAlgorithm.crc16, 64w0, { hdr.ipv4.options, hdr.tail.data }, 64w1 << 16);
        hash(hdr.results.identity, HashAlgorithm.identity, 64w0, { hdr.tail.data }, 64w1 << 63);
        hash(hdr.results.exclusive, HashAlgorithm.xor16, 64w0, { hdr.tail.data, hdr.ipv4.id, hdr.ipv4.options },
            64w1 << 16);
        hash(hdr.results.sum, HashAlgorithm.csum16, 64w0, { hdr.tail.bytes, hdr.tail.data, hdr.ipv4.src }, 64w1 << 16);
        hash(hdr.results.shifted, HashAlgorithm.crc32, 64w0,
            { hdr.ipv4.version, hdr.tail.data, hdr.ipv4.fragment[10:0], hdr.ipv4.options, hdr.ipv4.dst, 3w5 }, 64w1 << 32);
        hash(hdr.results.shifted_sum, HashAlgorithm.csum16, 64w0,
            { hdr.ipv4.fragment[12:0], hdr.ipv4.options, hdr.tail.data }, 64w1 << 16);
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.tail.end == 0xee) {
            hdr.tail.setInvalid();
        }
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(true, { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id,
            hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(true, { hdr.tail.data, hdr.ipv4.protocol }, hdr.results.payload,
            HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tail);
        packet.emit(hdr.results);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
