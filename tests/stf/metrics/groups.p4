// SPDX-License-Identifier: Apache-2.0
//
// Metrics of every kind, by group and for all packets.

#include <core.p4>
#include <ebpf_model.p4>
#include <telemetry.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  group;
    bit<64> value;
    bit<32> item;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control flt(inout headers_t hdr, out bool pass) {
    tally<bit<8>>(64) values;
    tally<bit<1>>(1) all_values;
    histogram<bit<8>>(16) sizes;
    distinct_count<bit<8>, bit<32>>(16) items;
    distinct_count<bit<1>, bit<32>>(1, 12) all_items;
    top_keys<bit<32>>(64) heavy;
    tally<bit<8>>(8) never;

    apply {
        values.add(hdr.data.group, hdr.data.value);
        all_values.add(0, hdr.data.value);
        sizes.add(hdr.data.group, hdr.data.value);
        items.add(hdr.data.group, hdr.data.item);
        all_items.add(0, hdr.data.item);
        heavy.add(hdr.data.item, hdr.data.value);
        pass = true;
    }
}

ebpfFilter(prs(), flt()) main;
