// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a v1model program: of packets in ingress, and of every copy in egress.

#include <core.p4>
#include <v1model.p4>
#include <telemetry.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

struct meta_t {
}

parser prs(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control check(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    tally<bit<9>>(8) received;

    apply {
        received.add(std.ingress_port, (bit<64>)std.packet_length);
        if (hdr.eth.dst == 0xffffffffffff) {
            std.mcast_grp = 7;
        } else {
            std.egress_spec = 1;
        }
    }
}

control egress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    tally<bit<9>>(8) sent;

    apply {
        if (std.egress_port == std.ingress_port) {
            mark_to_drop(std);
        } else {
            hdr.eth.src = hdr.eth.src + (bit<48>)std.egress_port;
            sent.add(std.egress_port, 1);
        }
    }
}

control update(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control dep(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.eth); }
}

V1Switch(prs(), check(), ingress(), egress(), update(), dep()) main;
