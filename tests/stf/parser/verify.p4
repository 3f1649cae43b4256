// SPDX-License-Identifier: Apache-2.0
//
// verify with conditions over fields, and errors of the program's own.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

error { BadVersion, BadLength }

header data_t {
    bit<4>  version;
    bit<4>  length;
    bit<8>  check;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        verify(hdr.data.version == 2, error.BadVersion);
        verify(hdr.data.length > 3 && (bit<8>)hdr.data.length != hdr.data.check, error.BadLength);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;

    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
