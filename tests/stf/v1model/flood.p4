// SPDX-License-Identifier: Apache-2.0
//
// A switch that learns and floods: egress sends no copy back to where the packet came from.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

struct metadata_t {
    bit<16> vlan;
}

struct station_t {
    bit<48> address;
    bit<9>  port;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action known() { }

    action unknown() {
        digest<station_t>(0, { hdr.eth.src, std.ingress_port });
    }

    action forward(bit<9> port) {
        std.egress_spec = port;
    }

    action flood(bit<16> group) {
        std.mcast_grp = group;
    }

    action drop() {
        mark_to_drop(std);
    }

    table stations {
        key = { hdr.eth.src : exact; }
        actions = { known; unknown; }
        default_action = unknown();
        size = 1024;
    }

    table ports {
        key = { hdr.eth.dst : exact; }
        actions = { forward; flood; drop; }
        default_action = flood(1);
        size = 1024;
    }

    apply {
        stations.apply();
        ports.apply();
        if (hdr.eth.type == 0x8100) {
            hdr.eth.type = 0x88a8;
        }
    }
}

control prune(in standard_metadata_t std, out bool back) {
    apply {
        back = std.egress_port == std.ingress_port;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(512, CounterType.packets) sent;
    bool back;
    // What egress does for one copy no other meets.
    ethernet_t own;
    bit<8> seen;

    apply {
        seen = 0;
        if (std.egress_port == 1) {
            own.setValid();
            seen = 7;
        }
        if (std.egress_port != 1 && (own.isValid() || seen != 0)) {
            mark_to_drop(std);
            exit;
        }
        if (std.instance_type == 5) {
            prune.apply(std, back);
            if (back) {
                mark_to_drop(std);
                exit;
            }
        }
        sent.count((bit<32>)std.egress_port);
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
