// SPDX-License-Identifier: Apache-2.0
//
// Two digests, one with fields of odd widths; a packet may send both, and one that is dropped sends them all the same.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<3>   kind;
    bit<13>  odd;
    bit<128> wide;
}

struct station_t {
    bit<9>  port;
    bit<48> address;
}

struct odd_t {
    bool    set;
    bit<13> odd;
    bit<128> wide;
    bit<3>  kind;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t { }

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
    apply {
        std.egress_spec = 2;
        if (hdr.d.kind[0:0] == 1) {
            digest<station_t>(1, { std.ingress_port, hdr.eth.src });
        }
        if (hdr.d.kind[1:1] == 1) {
            digest<odd_t>(0xffffffff, { hdr.d.odd > 7, hdr.d.odd, hdr.d.wide, hdr.d.kind });
        }
        if (hdr.d.kind[2:2] == 1) {
            mark_to_drop(std);
        }
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
