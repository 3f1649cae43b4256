// SPDX-License-Identifier: Apache-2.0
//
// Groups that find no place are counted, and the greatest keys take the places of others.

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
    tally<bit<8>>(8) values;
    distinct_count<bit<8>, bit<32>>(1, 4) items;
    top_keys<bit<8>>(8) heavy;

    apply {
        values.add(hdr.data.group, hdr.data.value);
        items.add(hdr.data.group, hdr.data.item);
        heavy.add(hdr.data.group, hdr.data.value);
        pass = true;
    }
}

ebpfFilter(prs(), flt()) main;
