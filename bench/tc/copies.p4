// SPDX-License-Identifier: Apache-2.0
//
// Copies of a packet, each with a number of its own in the destination address: as many as its EtherType says, by a clone session
// or by a multicast group of that number.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<32> dst_high;
    bit<16> dst_low;
    bit<48> src;
    bit<8>  how;
    bit<8>  copies;
}

struct headers_t {
    ethernet_t eth;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control checks(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.eth.how == 1) {
            clone(CloneType.I2E, (bit<32>)hdr.eth.copies);
        } else if (hdr.eth.how == 2) {
            std.mcast_grp = (bit<16>)hdr.eth.copies;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.eth.dst_low = std.egress_rid;
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
    }
}

V1Switch(prs(), checks(), ingress(), egress(), checks(), dprs()) main;
