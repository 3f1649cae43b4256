// SPDX-License-Identifier: Apache-2.0
//
// Random numbers and the clock: three numbers and the time written into the packet.

#include <core.p4>
#include <tc_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  different;   // 1: the numbers are not all equal
    bit<32> first;
    bit<32> second;
    bit<32> third;
    bit<64> time;
    bit<32> low;         // the low half of the time, from the older extern
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        hdr.d.first = random32();
        hdr.d.second = random32();
        hdr.d.third = random32();
        hdr.d.different = hdr.d.first != hdr.d.second || hdr.d.second != hdr.d.third ? 8w1 : 0;
        hdr.d.time = tin.timestamp;
        hdr.d.low = BPF_KTIME_GET_NS();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

tc(prs(), ctl(), dprs()) main;
