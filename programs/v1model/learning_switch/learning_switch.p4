// SPDX-License-Identifier: Apache-2.0
//
// A learning switch: an unknown sender is reported by a digest, an unknown destination is flooded to group 1, and egress
// sends no copy back to where the packet came from. Whoever reads the digests adds the stations to both tables.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_t;
typedef bit<9>  port_t;

const bit<16> FLOOD = 1;
const bit<32> REPLICATED = 5;  // instance_type of a multicast copy

header ethernet_t {
    mac_t   dst;
    mac_t   src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t { }

// The digest of a sender.
struct station_t {
    mac_t  address;
    port_t port;
}

parser SwitchParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control NoChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SwitchIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action known() { }

    action learn() {
        digest<station_t>(0, { hdr.ethernet.src, std.ingress_port });
    }

    // A station that moves is learnt again: the port belongs to the key.
    table senders {
        key = {
            hdr.ethernet.src : exact;
            std.ingress_port : exact;
        }
        actions = { known; learn; }
        const default_action = learn();
        size = 4096;
    }

    action forward(port_t port) {
        std.egress_spec = port;
    }

    action flood() {
        std.mcast_grp = FLOOD;
    }

    table stations {
        key = { hdr.ethernet.dst : exact; }
        actions = { forward; flood; }
        default_action = flood();
        size = 4096;
    }

    apply {
        if (!hdr.ethernet.isValid()) {
            mark_to_drop(std);
            exit;
        }
        senders.apply();
        stations.apply();
    }
}

control SwitchEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(511, CounterType.packets_and_bytes) flooded;
    counter(511, CounterType.packets_and_bytes) forwarded;

    apply {
        if (std.egress_port == std.ingress_port) {
            mark_to_drop(std);
        } else if (std.instance_type == REPLICATED) {
            flooded.count((bit<32>)std.egress_port);
        } else {
            forwarded.count((bit<32>)std.egress_port);
        }
    }
}

control SwitchDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(SwitchParser(), NoChecksums(), SwitchIngress(), SwitchEgress(), NoChecksums(), SwitchDeparser()) main;
