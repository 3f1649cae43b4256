// SPDX-License-Identifier: Apache-2.0
//
// A switch that drops requests for one host in ingress, and reads the same message again in egress.

#include <core.p4>
#include <v1model.p4>
#include <payload.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header path_t {
    bit<8>  status;
    bit<64> path;
}

struct headers_t {
    ethernet_t eth;
    path_t     path;
}

struct meta_t {
}

parser prs(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control verify_sum(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control ing(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    message("http", 64) request;

    apply {
        standard.egress_spec = 1;
        bit<64> host;
        bit<32> length;
        request.read(0);
        // "bad.test", whatever follows is another host's name.
        if (request.get_bytes("host", host, length) && host == 0x6261642e74657374 && length == 8) {
            mark_to_drop(standard);
        }
    }
}

control egr(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    message("http") request;

    apply {
        bit<32> length;
        hdr.path.setValid();
        hdr.path.status = request.read(0);
        request.get_bytes("path", hdr.path.path, length);
    }
}

control compute_sum(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control dep(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.path);
    }
}

V1Switch(prs(), verify_sum(), ing(), egr(), compute_sum(), dep()) main;
