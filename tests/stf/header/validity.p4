// SPDX-License-Identifier: Apache-2.0
//
// isValid after each way to change it; {#}; a header set valid again; sizes of headers.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  a;
    bit<24> b;
}

header info_t {
    bit<8> bits;
    bit<8> in_bits;
    bit<8> in_bytes;
}

struct headers_t {
    ethernet_t eth;
    info_t     info;
    data_t     x;
    data_t     y;
    data_t     z;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.info);
        packet.extract(hdr.x);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<8> bits = 0;
        if (hdr.x.isValid()) { bits = bits | 0x01; }
        if (hdr.y.isValid()) { bits = bits | 0x02; }
        hdr.y = hdr.x;
        if (hdr.y.isValid()) { bits = bits | 0x04; }
        hdr.x = {#};
        if (hdr.x.isValid()) { bits = bits | 0x08; }
        hdr.z.setValid();
        hdr.z = hdr.x;
        if (hdr.z.isValid()) { bits = bits | 0x10; }
        hdr.z.setValid();
        hdr.z.a = 0xcc;
        hdr.z.b = 0xdddddd;
        if (hdr.z.isValid() && hdr.x == (data_t){#}) { bits = bits | 0x20; }
        hdr.info = { bits, (bit<8>)hdr.x.minSizeInBits(), (bit<8>)hdr.x.minSizeInBytes() };
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.info);
        packet.emit(hdr.x);
        packet.emit(hdr.y);
        packet.emit(hdr.z);
    }
}

xdp(prs(), sw(), dprs()) main;
