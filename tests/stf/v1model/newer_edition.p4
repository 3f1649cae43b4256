// SPDX-License-Identifier: Apache-2.0
//
// The edition of 2020: ports have a type name, and counters, meters and registers take any index type, given, `_` that a
// call tells, or `_` for which there are only numbers.

#define V1MODEL_VERSION 20200408
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<4>  at;
    bit<4>  rest;
    bit<8>  value;
    bit<8>  given;
    bit<8>  told;
    bit<8>  number;
    bit<8>  color;
}

struct headers_t {
    h_t h;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<8>, bit<4>>(16) given;
    register<bit<8>, _>(16) told;
    register<bit<8>, _>(16) number;
    counter<PortId_t>(16, CounterType.packets) by_port;
    counter<_>(16, CounterType.packets) by_place;
    meter<_>(16, MeterType.packets) limit;
    action forward(PortId_t port) {
        std.egress_spec = port;
    }
    apply {
        given.read(hdr.h.given, hdr.h.at);
        given.write(hdr.h.at, hdr.h.value);
        told.read(hdr.h.told, hdr.h.at);
        told.write(hdr.h.at, hdr.h.given + 1);
        number.read(hdr.h.number, 15);
        number.write(15, hdr.h.number + 1);
        by_port.count(std.ingress_port);
        by_place.count(hdr.h.at);
        limit.execute_meter(hdr.h.at, hdr.h.color);
        forward(4);
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
        packet.emit(hdr.h);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
