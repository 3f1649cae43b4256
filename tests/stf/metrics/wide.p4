// SPDX-License-Identifier: Apache-2.0
//
// Keys of several fields, of odd widths, and as long as a key may be; items that are structs; values of an expression.

#include <core.p4>
#include <xdp_model.p4>
#include <telemetry.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<3>   kind;
    bit<5>   more;
    bit<128> address;
    bit<24>  size;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

struct key_t {
    bit<3>   kind;
    bool     broadcast;
    bit<128> address;
}

struct long_t {
    bit<512> low;
    bit<504> high;
    bit<8>   last;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control swt(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    tally<key_t>(128) by_address;
    distinct_count<bit<3>, key_t>(8) addresses;
    top_keys<long_t>(8) longest;
    histogram<bit<5>>(1) sizes;

    apply {
        key_t key = { hdr.data.kind, hdr.eth.dst == 0xffffffffffff, hdr.data.address };
        bit<64> bytes = (bit<64>)hdr.data.size;
        by_address.add(key, bytes * 8);
        addresses.add(hdr.data.kind, key);
        if (hdr.data.more != 0) {
            sizes.add(hdr.data.more, bytes << 20);
            longest.add({ (bit<512>)hdr.data.address, (bit<504>)hdr.data.address << 300, (bit<8>)hdr.data.more }, bytes + 1);
        }
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), swt(), dep()) main;
