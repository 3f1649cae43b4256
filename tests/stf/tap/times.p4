// SPDX-License-Identifier: Apache-2.0
//
// The time of a packet, and counters of the filter model.

#include <core.p4>
#include <tap_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control watch(in headers_t hdr, in tap_input input) {
    tally<bit<1>>(1) times;
    CounterArray(4, false) packets;

    apply {
        times.add(0, input.timestamp);
        packets.increment((bit<32>)hdr.eth.type);
    }
}

tap(prs(), watch()) main;
