// SPDX-License-Identifier: Apache-2.0
//
// Generic headers and functions, and controls applied by their type: an instance each time.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header box_t<T> {
    T value;
}

struct headers_t {
    ethernet_t       eth;
    box_t<bit<8>>    small;
    box_t<bit<32>>   large;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.small);
        packet.extract(hdr.large);
        transition accept;
    }
}

T pick<T>(in bool first, in T x, in T y) {
    return first ? x : y;
}

control bump(inout bit<8> x) {
    apply {
        x = x + 1;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.large.value = pick(hdr.small.value == 1, hdr.large.value, 32w7);
        hdr.small.value = pick(hdr.large.value == 7, 8w0x40, hdr.small.value);
        bump.apply(hdr.small.value);
        bump.apply(hdr.small.value);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.small);
        packet.emit(hdr.large);
    }
}

xdp(prs(), sw(), dprs()) main;
