// SPDX-License-Identifier: Apache-2.0
//
// The pipeline's metadata, written into the packet. Marks and VLAN tags beside the packet are zeros here.

#include <core.p4>
#include <tc_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32> port;
    bit<8>  direction;
    bit<32> length;
    bit<32> mark;
    bit<32> priority;
    bit<8>  plain;      // 1: no tag beside the packet, and no segmentation to come
    bit<8>  roomy;      // 1: the interface's MTU is at least 1500
    bit<8>  late;       // 1: the clock has begun
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
        hdr.d.port = tin.input_port;
        hdr.d.direction = tin.direction == tc_direction.TC_EGRESS ? 8w1 : 0;
        hdr.d.length = tin.length;
        hdr.d.mark = tin.mark;
        hdr.d.priority = tout.priority;
        hdr.d.plain = tin.vlan_present == 0 && tin.vlan_tci == 0 && tin.gso_segments <= 1 && tin.gso_size == 0
            ? 8w1 : 0;
        hdr.d.roomy = tin.mtu >= 1500 ? 8w1 : 0;
        hdr.d.late = tin.timestamp != 0 ? 8w1 : 0;
        // Nobody sees these here, but they must do no harm.
        tout.mark = tin.mark + 7;
        tout.priority = tin.priority + 3;
        tout.queue = 1;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

tc(prs(), ctl(), dprs()) main;
