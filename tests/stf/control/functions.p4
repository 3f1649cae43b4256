// SPDX-License-Identifier: Apache-2.0
//
// Functions with in, out and inout parameters, early returns, calls inside calls, default arguments and arguments by name.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<16> a;
    bit<16> b;
    bit<16> larger;
    bit<16> swapped_a;
    bit<16> swapped_b;
    bit<16> clamped;
    bit<16> nested;
    bit<16> scaled;
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

bit<16> larger(in bit<16> a, in bit<16> b) {
    if (a > b) {
        return a;
    }
    return b;
}

void exchange(inout bit<16> a, inout bit<16> b) {
    if (a == b) {
        return;
    }
    bit<16> t = a;
    a = b;
    b = t;
}

bit<16> clamp(in bit<16> value, in bit<16> low, in bit<16> high, out bool changed) {
    changed = true;
    if (value < low) {
        return low;
    } else if (value > high) {
        return high;
    }
    changed = false;
    return value;
}

bit<16> scaled(in bit<16> value, in bit<16> factor = 2) {
    return value * factor;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<16> x = hdr.data.a;
        bit<16> y = hdr.data.b;
        hdr.data.larger = larger(x, y);
        exchange(x, y);
        hdr.data.swapped_a = x;
        hdr.data.swapped_b = y;
        bool changed;
        hdr.data.clamped = clamp(high = 1000, low = 10, value = hdr.data.a, changed = changed);
        if (changed) {
            hdr.data.clamped = hdr.data.clamped | 0x8000;
        }
        hdr.data.nested = larger(larger(hdr.data.a, 5), clamp(hdr.data.b, 0, 7, changed));
        hdr.data.scaled = scaled(hdr.data.a) + scaled(hdr.data.a, 3);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
