// SPDX-License-Identifier: Apache-2.0
//
// Source routing: the sender writes the path into the packet, a port for each hop. Each hop takes the first one off; the
// last hop takes the rest off too, and the packet is what it was without.

#include <core.p4>
#include <v1model.p4>

// The second EtherType for local experiments.
const bit<16> TYPE_ROUTE = 0x88b6;
const bit<8>  VERSION = 1;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header route_t {
    bit<8>  version;
    bit<8>  ttl;
    bit<16> type;   // the EtherType behind the path
}

header hop_t {
    bit<1>  last;
    bit<15> port;
}

struct headers_t {
    ethernet_t eth;
    route_t    route;
    hop_t[8]   hops;
}

struct metadata_t { }

error { NoSuchVersion }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_ROUTE: route;
            default:    accept;
        }
    }
    state route {
        packet.extract(hdr.route);
        verify(hdr.route.version == VERSION, error.NoSuchVersion);
        transition hop;
    }
    state hop {
        packet.extract(hdr.hops.next);
        transition select(hdr.hops.last.last) {
            1:       accept;
            default: hop;
        }
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    const bit<15> LARGEST_PORT = 510;

    action drop() {
        mark_to_drop(std);
    }

    apply {
        if (std.parser_error != error.NoError || !hdr.route.isValid() || hdr.route.ttl == 0
                || hdr.hops[0].port > LARGEST_PORT) {
            drop();
        } else {
            std.egress_spec = (bit<9>)hdr.hops[0].port;
            if (hdr.hops[0].last == 1) {
                hdr.eth.type = hdr.route.type;
                hdr.route.setInvalid();
            } else {
                hdr.route.ttl = hdr.route.ttl - 1;
            }
            hdr.hops.pop_front(1);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action drop() {
        mark_to_drop(std);
    }

    action send(bit<48> src_mac, bit<48> dst_mac) {
        hdr.eth.src = src_mac;
        hdr.eth.dst = dst_mac;
    }

    // Who is at each port.
    table neighbors {
        key = { std.egress_port : exact @name("port"); }
        actions = { send; drop; }
        default_action = drop();
        size = 512;
    }

    apply {
        neighbors.apply();
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.route);
        packet.emit(hdr.hops);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
