// SPDX-License-Identifier: Apache-2.0
//
// Multicast groups: each copy is the packet as ingress left it, with a replication id of its own. A group comes before the
// drop port; mark_to_drop and group 0 mean none; a group that does not exist has no copies.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  kind;
    bit<8>  instance;
    bit<16> rid;
    bit<16> port;
    bit<16> left;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    bit<16> left;
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
    action flood(bit<16> group) {
        std.mcast_grp = group;
    }
    action flood_and_drop(bit<16> group) {
        mark_to_drop(std);
        std.mcast_grp = group;
    }
    action drop_flood(bit<16> group) {
        std.mcast_grp = group;
        mark_to_drop(std);
    }
    table kinds {
        key = { hdr.d.kind : exact; }
        actions = { flood; flood_and_drop; drop_flood; NoAction; }
        default_action = NoAction();
    }
    apply {
        std.egress_spec = 1;
        hdr.eth.type = 0x9999;
        meta.left = 0x1122;
        kinds.apply();
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.instance = (bit<8>)std.instance_type;
        hdr.d.rid = std.egress_rid;
        hdr.d.port = (bit<16>)std.egress_port;
        hdr.d.left = meta.left;
        if (std.egress_port == std.ingress_port) {
            // Nothing goes back.
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
